import {
  type InvitationLink,
  invitationCode,
  invitationLink,
  invitationPreview,
  invitationSettled,
} from '@tenon/protocol';
import { withCodeTries } from '../auth/code-attempts.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import type { Services } from '../services.ts';
import { acceptInvitation, declineInvitation, previewInvitation } from './invitations.ts';

const route = routeTagged('Invitations');
const codeBody = jsonBody(invitationCode, { code: 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M' });
const appExample = { id: example.appId, name: 'Acme Spreadsheet' };
const errors = ['not_found', 'invitation_used', 'invitation_expired', 'invitation_revoked', 'rate_limited'] as const;

export const invitationRoutes: readonly Route[] = [
  route('POST', '/api/v1/invitations/preview', {
    access: { kind: 'public' },
    body: codeBody,
    id: 'previewInvitation',
    summary: 'Preview an invitation, without an account',
    description: 'The code is the only credential. The request changes nothing.',
    responses: {
      200: json('a pending invitation', invitationPreview, {
        app: appExample,
        role: 'guest',
        invitedBy: null,
        guestLabel: 'Globex',
        expiresAt: example.time,
        allowsSignUp: true,
      }),
    },
    errors,
    handle: async (services, { request, body }) => {
      const { app, role, inviterName, guestLabel, expiresAtMs, allowsSignUp } = await withCodeTries(
        services,
        request,
        () => previewInvitation(services.deps, body.code),
      );
      return {
        app: { id: app.id, name: app.name },
        role,
        invitedBy: inviterName,
        guestLabel,
        expiresAt: new Date(expiresAtMs).toISOString(),
        allowsSignUp,
      };
    },
  }),
  route('POST', '/api/v1/invitations/accept', {
    access: { kind: 'user', scope: 'publish' },
    body: codeBody,
    id: 'acceptInvitation',
    summary: 'Accept an invitation: you become a guest of the application, or a member of its team',
    description:
      'Accepting binds no plugins; the next publish does. An invitation to the team requires the scope `manage`. 409 if you are already a member.',
    responses: {
      200: json('accepted', invitationSettled, { status: 'accepted', app: appExample, guestId: example.guestId }),
    },
    errors: [...errors, 'conflict'],
    handle: async (services, { request, auth, body }) => {
      const { app, guest, role } = await withCodeTries(services, request, () =>
        acceptInvitation(services.deps, auth.actor, body.code),
      );
      const joined = role === undefined ? { guestId: guest.id } : { role };
      return { status: 'accepted', app: { id: app.id, name: app.name }, ...joined };
    },
  }),
  route('POST', '/api/v1/invitations/decline', {
    access: { kind: 'user', scope: 'publish' },
    body: codeBody,
    id: 'declineInvitation',
    summary: 'Decline an invitation',
    responses: { 200: json('declined', invitationSettled, { status: 'declined', app: appExample }) },
    errors,
    handle: async (services, { request, auth, body }) => {
      const app = await withCodeTries(services, request, () => declineInvitation(services.deps, auth.actor, body.code));
      return { status: 'declined', app: { id: app.id, name: app.name } };
    },
  }),
];

export const linkExample = 'http://localhost:8366/accept-invite?code=rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M';

/** The response to a new invitation, of a guest or a team member. */
export const invitationResponses = {
  200: json('the link, which is shown only once', invitationLink, {
    status: 'ok' as const,
    link: linkExample,
  }),
};

/** The common fields of both examples of invitations. */
export const pendingInvitationExample = {
  id: example.invitationId,
  status: 'pending' as const,
  email: null,
  name: 'Ada',
  createdAt: example.time,
  expiresAt: '2026-03-08T12:00:00.000Z',
  settledAt: null,
};

/** Converts an invitation code to the link for accepting the invitation. */
export function toInvitationLink({ addresses }: Pick<Services, 'addresses'>, code: string): InvitationLink {
  return { status: 'ok', link: toLink({ addresses }, code) };
}

export function toLink({ addresses }: Pick<Services, 'addresses'>, code: string): string {
  return `${addresses.base()}/accept-invite?code=${code}`;
}
