import {
  guest,
  guestListQuery,
  guestUpdate,
  invitation,
  invitationInput,
  invitationListQuery,
  invitationRenewal,
} from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { conditionalRead, conditionalWrite, preconditionOf, sendRepresentation } from '../http/representation.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toGuest, toInvitation } from './app-wire.ts';
import {
  type GuestWithUsers,
  inviteGuest,
  listGuests,
  listInvitations,
  readGuest,
  removeGuest,
  removeGuestUser,
  updateGuest,
} from './guests.ts';
import { invitationResponses, pendingInvitationExample, toInvitationLink } from './invitation-routes.ts';
import { renewOneInvitation, revokeInvitation } from './open-invitations.ts';

const route = routeTagged('Guests');

const dayMs = 24 * 60 * 60 * 1000;

const guestExample = {
  id: example.guestId,
  guestKey: 'customers/globex',
  label: 'Globex',
  note: 'Pays by invoice.',
  ring: null,
  users: [{ userId: example.userId, name: 'Grace', acceptedAt: example.time }],
  latestInvitation: pendingInvitationExample,
  createdAt: example.time,
};

const invitationExample = {
  ...pendingInvitationExample,
  guestId: example.guestId,
  guestKey: 'customers/globex',
  guestLabel: 'Globex',
};

export const guestRoutes: readonly Route[] = [
  inviteRoute('/api/v1/apps/:appId/guests', {
    id: 'inviteGuest',
    summary: 'Invite a guest',
    description: 'Another request with the same guest key creates another invitation for the same guest.',
  }),
  inviteRoute('/api/v1/apps/:appId/guests/invite', {
    id: 'inviteGuestAtOlderPath',
    summary: "Invite a guest, at the path of XTP's clients",
  }),
  route('GET', '/api/v1/apps/:appId/guests', {
    access: { kind: 'app', purpose: 'readGuests' },
    query: guestListQuery,
    id: 'listGuests',
    summary: "List an application's guests, with their keys and users",
    responses: { 200: jsonList('the guests', guest, guestExample) },
    handle: async ({ deps }, { auth, query }) => {
      const nowMs = deps.clock();
      const { q: text, guestKey, state } = query;
      const found = await listGuests(deps, auth.access, toPage(query), { text, guestKey, state });
      return toList(found, (one) => toGuest(one, nowMs), query.sort);
    },
  }),
  route('GET', '/api/v1/apps/:appId/guests/:guestId', {
    access: { kind: 'app', purpose: 'readGuests' },
    id: 'readGuest',
    summary: 'Read a guest',
    ...conditionalRead('the guest', guest, guestExample),
    handle: async ({ deps }, { request, auth, params }, reply) => {
      const found = await readGuest(deps, auth.access, params.guestId);
      return sendRepresentation(request, reply, toGuest(found, deps.clock()));
    },
  }),
  route('PUT', '/api/v1/apps/:appId/guests/:guestId', {
    access: { kind: 'app', purpose: 'changeGuests' },
    body: jsonBody(guestUpdate, { label: 'Globex' }),
    id: 'updateGuest',
    summary: "Change a guest's label, note and ring; absent fields keep their values",
    requestHeaders: conditionalWrite.requestHeaders,
    responses: { 200: json('the guest', guest, guestExample, conditionalWrite.headers) },
    errors: ['precondition_failed'],
    handle: async ({ deps }, { request, auth, params, body }, reply) => {
      const nowMs = deps.clock();
      const precondition = preconditionOf(request, (state: GuestWithUsers) => toGuest(state, nowMs));
      const updated = await updateGuest(deps, auth.access, params.guestId, body, precondition);
      return sendRepresentation(request, reply, toGuest(updated, nowMs));
    },
  }),
  route('DELETE', '/api/v1/apps/:appId/guests/:guestId', {
    access: { kind: 'app', purpose: 'changeGuests' },
    id: 'removeGuest',
    summary: 'Remove a guest with its invitations and bindings',
    responses: { 204: { description: 'removed' } },
    errors: ['step_up_required'],
    handle: ({ deps }, { auth, params }) => removeGuest(deps, auth.access, params.guestId),
  }),
  route('DELETE', '/api/v1/apps/:appId/guests/:guestId/users/:userId', {
    access: { kind: 'app', purpose: 'changeGuests' },
    id: 'removeGuestUser',
    summary: "Remove a user from a guest, with the user's bindings under it",
    responses: { 204: { description: 'removed' } },
    handle: ({ deps }, { auth, params }) => removeGuestUser(deps, auth.access, params.guestId, params.userId),
  }),
  route('GET', '/api/v1/apps/:appId/invitations', {
    access: { kind: 'app', purpose: 'readGuests' },
    query: invitationListQuery,
    id: 'listInvitations',
    summary: "List an application's invitations, including accepted, declined, expired, and revoked ones",
    responses: { 200: jsonList('the invitations', invitation, invitationExample) },
    handle: async ({ deps }, { auth, query }) => {
      const nowMs = deps.clock();
      const { guestId, status, q: text, olderThanDays } = query;
      const createdBeforeMs = olderThanDays === undefined ? undefined : nowMs - olderThanDays * dayMs;
      const search = { guestId, status, text, createdBeforeMs, nowMs };
      const found = await listInvitations(deps, auth.access, toPage(query), search);
      return toList(found, (one) => toInvitation(one, nowMs), query.sort);
    },
  }),
  route('DELETE', '/api/v1/apps/:appId/invitations/:invitationId', {
    access: { kind: 'app', purpose: 'changeGuests' },
    id: 'revokeInvitation',
    summary: 'Revoke an invitation: its link stops working',
    responses: { 204: { description: 'revoked' } },
    errors: ['conflict'],
    handle: ({ deps }, { auth, params }) => revokeInvitation(deps, auth.access, params.invitationId),
  }),
  route('POST', '/api/v1/apps/:appId/invitations/:invitationId/renew', {
    access: { kind: 'app', purpose: 'changeGuests' },
    id: 'renewInvitation',
    body: jsonBody(invitationRenewal, { deliveryMethod: 'link' }),
    summary: 'Renew an invitation, of a guest or to the team: it gets another link',
    description:
      'The previous link stops working. Also renews expired invitations. In a browser session, renewing an invitation to the team requires step-up.',
    responses: invitationResponses,
    errors: ['unsupported_delivery_method', 'conflict', 'step_up_required', 'quota_exceeded'],
    handle: async (services, { auth, params, body: { deliveryMethod } }) => {
      const renewed = await renewOneInvitation(services.deps, auth.access, params.invitationId, deliveryMethod);
      return toInvitationLink(services, renewed.code);
    },
  }),
];

function inviteRoute(path: string, doc: Pick<Route, 'id' | 'summary' | 'description'>): Route {
  return route('POST', path, {
    ...doc,
    access: { kind: 'app', purpose: 'changeGuests' },
    body: jsonBody(invitationInput, { deliveryMethod: 'link', guestKey: 'customers/globex', label: 'Globex' }),
    responses: invitationResponses,
    errors: ['unsupported_delivery_method', 'quota_exceeded'],
    handle: async (services, { auth: { actor, access }, body }) =>
      toInvitationLink(services, await inviteGuest(services.deps, actor, access, body)),
  });
}
