import {
  type InvitationResults,
  invitationResults,
  invitationSelection,
  invitationsInput,
  invitationsRenewal,
  maxInvitationsAtOnce,
  type RenewedInvitations,
  type RevokedInvitations,
  renewedInvitations,
  revokedInvitations,
} from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { time } from '../http/wire-time.ts';
import { inviteGuests, renewInvitations, revokeInvitations } from './bulk-invitations.ts';
import { linkExample, toLink } from './invitation-routes.ts';

const route = routeTagged('Guests');

const selectionBody = jsonBody(invitationSelection, { filter: { status: 'pending', olderThanDays: 14 } });

const batches = `Send \`ids\` (at most ${maxInvitationsAtOnce}), or a \`filter\` for a batch of at most ${maxInvitationsAtOnce} of the invitations that it finds; repeat with \`nextCursor\` as \`cursor\` for the rest. Each batch is one transaction.`;

export const bulkInvitationRoutes: readonly Route[] = [
  route('POST', '/api/v1/apps/:appId/invitations', {
    access: { kind: 'app', purpose: 'changeGuests' },
    body: jsonBody(invitationsInput, {
      invitations: [{ guestKey: 'customers/globex', email: 'grace@example.org', label: 'Globex' }],
    }),
    id: 'inviteGuests',
    summary: `Invite up to ${maxInvitationsAtOnce} guests`,
    description:
      'A repeated request makes no second invitation: a person is known by the guest key with the `email`, or without one with the `name`. A request with an invalid row changes nothing. A row that exceeds a quota fails, and the others apply. With `deliveryMethod: "email"`, each new or renewed link is also mailed if the row has an `email`.',
    responses: {
      200: json('a result for each row', invitationResults, {
        objects: [
          {
            guestKey: 'customers/globex',
            outcome: 'invited',
            link: linkExample,
            expiresAt: example.time,
            isMailed: false,
          },
        ],
      }),
    },
    errors: ['unsupported_delivery_method'],
    handle: async (services, { auth: { actor, access }, body }): Promise<InvitationResults> => {
      const results = await inviteGuests(services.deps, actor, access, body);
      return {
        objects: results.map(({ code, expiresAtMs, ...result }) => ({
          ...result,
          ...(code !== undefined && { link: toLink(services, code) }),
          ...(expiresAtMs !== undefined && { expiresAt: time(expiresAtMs) }),
        })),
      };
    },
  }),
  route('POST', '/api/v1/apps/:appId/invitations/renew', {
    access: { kind: 'app', purpose: 'changeGuests' },
    body: jsonBody(invitationsRenewal, { filter: { status: 'pending', olderThanDays: 14 } }),
    id: 'renewInvitations',
    summary: 'Renew invitations of guests: each gets another link',
    description: `The previous links stop working. With \`deliveryMethod: "email"\`, invitations that have an e-mail address are also mailed. ${batches}`,
    responses: {
      200: json('the links, which are shown only once', renewedInvitations, {
        objects: [
          {
            id: example.invitationId,
            guestKey: 'customers/globex',
            email: null,
            name: 'Grace',
            link: linkExample,
            expiresAt: example.time,
            isMailed: false,
          },
        ],
        skipped: 0,
      }),
    },
    errors: ['unsupported_delivery_method', 'quota_exceeded'],
    handle: async (services, { auth, body }): Promise<RenewedInvitations> => {
      const { changed, skipped, nextCursor } = await renewInvitations(services.deps, auth.access, body);
      return {
        objects: changed.map(({ id, guestKey, email, name, code, expiresAtMs, isMailed }) => ({
          id,
          guestKey,
          email,
          name,
          link: toLink(services, code),
          expiresAt: time(expiresAtMs),
          isMailed,
        })),
        skipped,
        ...(nextCursor !== undefined && { nextCursor }),
      };
    },
  }),
  route('POST', '/api/v1/apps/:appId/invitations/revoke', {
    access: { kind: 'app', purpose: 'changeGuests' },
    body: selectionBody,
    id: 'revokeInvitations',
    summary: 'Revoke invitations of guests: their links stop working',
    description: batches,
    responses: { 200: json('how many were revoked', revokedInvitations, { revoked: 12, skipped: 0 }) },
    handle: async ({ deps }, { auth, body }): Promise<RevokedInvitations> => {
      const { changed, skipped, nextCursor } = await revokeInvitations(deps, auth.access, body);
      return { revoked: changed.length, skipped, ...(nextCursor !== undefined && { nextCursor }) };
    },
  }),
];
