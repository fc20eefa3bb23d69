import { type InvitationLink, invitationLink } from '@tenon/protocol';
import type { Parts } from '../parts.ts';
import { json } from '../route.ts';
import { example } from './examples.ts';

/** The response to a new invitation, of a guest or a team member. */
export const invitationAnswers = {
  200: json('the link, which is shown only once', invitationLink, {
    status: 'ok' as const,
    link: 'http://localhost:8366/accept-invite?code=rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M',
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
export function toInvitationLink({ addresses }: Pick<Parts, 'addresses'>, code: string): InvitationLink {
  return { status: 'ok', link: `${addresses.base()}/accept-invite?code=${code}` };
}
