import { passwordLink, passwordLinkInput, revokedCredentials, user, userDetails, userListQuery } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { toUser, toUserDetails } from '../auth/account-wire.ts';
import {
  createPasswordLink,
  listUsers,
  resetSecondFactor,
  revokeCredentialsOf,
  setOperator,
  suspendUser,
  unsuspendUser,
} from '../auth/manage-users.ts';
import { linkUrl } from '../auth/one-time-links.ts';
import { describeUser } from '../auth/users.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example, revokedCredentialsExample } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { time } from '../http/wire-time.ts';
import { deleteUser } from './delete-account.ts';

const route = routeTagged('Users');
const userPath = '/api/v1/users/:userId';

/** Reading needs `manage` too, because lists of users have e-mail addresses. */
const access = { kind: 'user', scope: 'manage', userLevel: true, operator: true } as const;

const ofOperators = 'For operators. In a browser session, it requires step-up.';

const userExample = {
  id: example.userId,
  name: 'Grace',
  email: 'grace@example.org',
  isOperator: false,
  createdAt: example.time,
  lastSeenAt: example.time,
  suspendedAt: null,
  appCount: 1,
};

const detailsExample = {
  ...userExample,
  apps: [{ id: example.appId, name: 'Acme Spreadsheet', role: 'viewer' as const }],
  pluginCount: 3,
  sessionCount: 1,
  tokenCount: 2,
  apiKeyCount: 0,
};

export const userRoutes: readonly Route[] = [
  route('GET', '/api/v1/users', {
    access,
    query: userListQuery,
    id: 'listUsers',
    summary: "List the server's users",
    description: 'For operators. The list has no deleted users.',
    responses: { 200: jsonList('the users', user, userExample) },
    errors: ['forbidden'],
    handle: async ({ deps }, { query }) => {
      const { q: text, state } = query;
      return toList(await listUsers(deps, toPage(query), { text, state }), toUser, query.sort);
    },
  }),
  route('GET', userPath, {
    access,
    id: 'readUser',
    summary: 'Read a user, with applications and the numbers of sessions, tokens and keys',
    description: 'For operators.',
    responses: { 200: json('the user', userDetails, detailsExample) },
    errors: ['forbidden', 'not_found'],
    handle: async ({ deps }, { params }) => toUserDetails(await describeUser(deps, params.userId)),
  }),
  route('DELETE', userPath, {
    access,
    id: 'deleteUser',
    summary: "Delete a user's account, immediately",
    description: `${ofOperators} Deletes what \`POST /api/v1/me/deletion\` deletes. 409 for the only owner of an application, the only operator, and your own account.`,
    responses: { 204: { description: 'deleted' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict'],
    handle: ({ deps }, { auth, params }) => deleteUser(deps, auth.actor, params.userId),
  }),
  route('PUT', `${userPath}/suspension`, {
    access,
    id: 'suspendUser',
    summary: 'Suspend a user: refuse sign-ins, and revoke sessions, tokens and API keys for good',
    description: `${ofOperators} Sign-ins fail with \`account_suspended\`. Plugins and bindings stay. 409 for the only operator, and your own account.`,
    responses: { 204: { description: 'suspended' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict'],
    handle: async ({ deps }, { auth, params }) => void (await suspendUser(deps, auth.actor, params.userId)),
  }),
  route('DELETE', `${userPath}/suspension`, {
    access,
    id: 'unsuspendUser',
    summary: 'End the suspension of a user',
    description: `${ofOperators} The user can sign in again. Sessions, tokens and API keys stay revoked.`,
    responses: { 204: { description: 'not suspended' } },
    errors: ['forbidden', 'step_up_required', 'not_found'],
    handle: async ({ deps }, { auth, params }) => void (await unsuspendUser(deps, auth.actor, params.userId)),
  }),
  route('POST', `${userPath}/credentials/revoke-all`, {
    access,
    body: jsonBody(Type.Object({}), {}),
    id: 'revokeCredentialsOfUser',
    summary: "Revoke a user's sessions, tokens, API keys, pending logins and links",
    description: `${ofOperators} The user can sign in again. 409 for your own account.`,
    responses: { 200: json('the numbers of the revoked ones', revokedCredentials, revokedCredentialsExample) },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict'],
    handle: ({ deps }, { auth, params }) => revokeCredentialsOf(deps, auth.actor, params.userId),
  }),
  route('DELETE', `${userPath}/passkeys`, {
    access,
    id: 'resetSecondFactor',
    summary: "Remove a user's passkeys and recovery codes, and end the sessions",
    description: `${ofOperators} For a user who has lost them: then the password alone signs in. 409 for your own account.`,
    responses: { 204: { description: 'removed' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict'],
    handle: async ({ deps }, { auth, params }) => void (await resetSecondFactor(deps, auth.actor, params.userId)),
  }),
  route('PUT', `${userPath}/operator`, {
    access,
    id: 'grantOperator',
    summary: 'Make a user an operator',
    description: ofOperators,
    responses: { 204: { description: 'is an operator' } },
    errors: ['forbidden', 'step_up_required', 'not_found'],
    handle: async ({ deps }, { auth, params }) => void (await setOperator(deps, auth.actor, params.userId, true)),
  }),
  route('DELETE', `${userPath}/operator`, {
    access,
    id: 'revokeOperator',
    summary: 'Revoke the operator role of a user',
    description: `${ofOperators} 409 for your own role.`,
    responses: { 204: { description: 'is not an operator' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict'],
    handle: async ({ deps }, { auth, params }) => void (await setOperator(deps, auth.actor, params.userId, false)),
  }),
  route('POST', `${userPath}/password-link`, {
    access,
    body: jsonBody(passwordLinkInput, {}),
    id: 'createPasswordLink',
    summary: "Create a link that sets a user's password",
    description: `${ofOperators} Send the link privately: it works for the first person who uses it. 409 for a suspended user.`,
    responses: {
      201: json('the link, which is shown only once', passwordLink, {
        link: 'https://tenon.example.org/reset-password#code=rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M',
        expiresAt: example.time,
      }),
    },
    errors: ['forbidden', 'step_up_required', 'not_found', 'conflict', 'email_taken'],
    handle: async ({ deps, addresses }, { auth, params, body }) => {
      const link = await createPasswordLink(deps, auth.actor, params.userId, body.email);
      return { link: linkUrl(addresses.base(), link), expiresAt: time(link.record.expiresAtMs) };
    },
  }),
];
