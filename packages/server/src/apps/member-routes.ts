import {
  member,
  memberInput,
  memberInvitation,
  memberInvitationInput,
  memberInvitationListQuery,
  memberListQuery,
  memberRemovalQuery,
} from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toMember, toMemberInvitation } from './app-wire.ts';
import { invitationResponses, pendingInvitationExample, toInvitationLink } from './invitation-routes.ts';
import {
  changeMemberRole,
  inviteMember,
  leaveTeam,
  listMembers,
  listTeamInvitations,
  removeMember,
} from './members.ts';

const route = routeTagged('Applications');

const memberExample = {
  userId: example.userId,
  name: 'Ada',
  role: 'admin' as const,
  guestIds: [],
  hasMoreGuests: false,
  createdAt: example.time,
};

const invitationExample = {
  ...pendingInvitationExample,
  role: 'admin' as const,
  invitedBy: { userId: example.userId, name: 'Grace' },
};

export const memberRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/members', {
    access: { kind: 'app', purpose: 'readMembers' },
    query: memberListQuery,
    id: 'listMembers',
    summary: "List an application's team",
    responses: { 200: jsonList('the members', member, memberExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listMembers(deps, auth.access, toPage(query), query.q), toMember, query.sort),
  }),
  route('POST', '/api/v1/apps/:appId/members', {
    access: { kind: 'app', purpose: 'changeMembers' },
    body: jsonBody(memberInvitationInput, { role: 'admin', name: 'Ada' }),
    id: 'inviteMember',
    summary: 'Invite a member to the team',
    description:
      'The user who accepts the invitation becomes a member with this role. In a browser session, it requires step-up.',
    responses: invitationResponses,
    errors: ['unsupported_delivery_method', 'step_up_required', 'quota_exceeded'],
    handle: async (services, { auth, body }) =>
      toInvitationLink(services, await inviteMember(services.deps, auth.actor, auth.access, body)),
  }),
  route('GET', '/api/v1/apps/:appId/members/invitations', {
    access: { kind: 'app', purpose: 'readMembers' },
    query: memberInvitationListQuery,
    id: 'listMemberInvitations',
    summary: "List an application's invitations to the team, including accepted, declined, expired, and revoked ones",
    description: 'Revoke one with `DELETE /api/v1/apps/<app_id>/invitations/<invitation_id>`.',
    responses: { 200: jsonList('the invitations', memberInvitation, invitationExample) },
    handle: async ({ deps }, { auth, query }) => {
      const nowMs = deps.clock();
      const isSettled = query.isSettled === undefined ? undefined : query.isSettled === 'true';
      const found = await listTeamInvitations(deps, auth.access, toPage(query), isSettled);
      return toList(found, (one) => toMemberInvitation(one, nowMs), query.sort);
    },
  }),
  route('PUT', '/api/v1/apps/:appId/members/:userId', {
    access: { kind: 'app', purpose: 'changeMembers' },
    body: jsonBody(memberInput, { role: 'admin' }),
    id: 'putMember',
    summary: "Change a member's role",
    description:
      "404 for a user who is not a member; invite the user instead. Revokes those of the member's pending invitations that the new role could not create.",
    responses: { 200: json('the member', member, memberExample) },
    errors: ['conflict', 'step_up_required'],
    handle: async ({ deps }, { auth, params, body }) =>
      toMember(await changeMemberRole(deps, auth.access, params.userId, body.role)),
  }),
  route('DELETE', '/api/v1/apps/:appId/members/:userId', {
    access: { kind: 'app', purpose: 'changeMembers' },
    query: memberRemovalQuery,
    id: 'removeMember',
    summary: 'Remove a member from the team',
    description: "Revokes the member's pending invitations. The member keeps guests unless you send `guests=remove`.",
    responses: { 204: { description: 'removed' } },
    errors: ['conflict', 'step_up_required'],
    handle: ({ deps }, { auth, params, query }) =>
      removeMember(deps, auth.access, params.userId, query.guests === 'remove'),
  }),
  route('DELETE', '/api/v1/apps/:appId/membership', {
    access: { kind: 'app', purpose: 'leaveTeam' },
    id: 'leaveTeam',
    summary: "Leave an application's team",
    description: 'You keep your guests. The last owner cannot leave.',
    responses: { 204: { description: 'you left the team' } },
    errors: ['conflict', 'step_up_required'],
    handle: ({ deps }, { auth }) => leaveTeam(deps, auth.access),
  }),
];
