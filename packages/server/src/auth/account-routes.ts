import { account, accountUpdate, emailChange, pageQuery, passwordChange, session } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { jsonBody } from '../http/bodies/json-body.ts';
import { accountExample, example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toAccount, toSession } from './account-wire.ts';
import { changePassword, updateAccount } from './accounts.ts';
import { changeEmail } from './email-changes.ts';
import { requestVerification } from './mailed-links.ts';
import { endOwnSession, listSessions } from './sessions.ts';

const route = routeTagged('Account');

const sessionExample = {
  id: example.sessionId,
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  address: '192.0.2.7',
  isCurrent: true,
  createdAt: example.time,
  lastUsedAt: example.time,
  lastUsedAddress: '192.0.2.7',
  expiresAt: '2026-03-31T12:00:00.000Z',
};

export const accountRoutes: readonly Route[] = [
  route('PUT', '/api/v1/me', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(accountUpdate, { name: accountExample.name }),
    id: 'updateAccount',
    summary: 'Change your name, and which notices you get by mail',
    responses: { 200: json('the account', account, accountExample) },
    handle: async ({ deps }, { auth, body }) => toAccount(await updateAccount(deps, auth.actor, body)),
  }),
  route('POST', '/api/v1/me/verification', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(Type.Object({}), {}),
    id: 'requestVerification',
    summary: 'Mail a link that verifies your e-mail address',
    description: '404 if the server sends no mail; 409 if the address is verified.',
    responses: { 204: { description: 'a mail is on its way' } },
    errors: ['not_found', 'conflict', 'rate_limited'],
    handle: ({ deps }, { auth }) => requestVerification(deps, auth.actor),
  }),
  route('PUT', '/api/v1/me/email', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(emailChange, { email: accountExample.email }),
    id: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'If the server sends mail, it mails a link to the new address, and a notice to the old one. The address changes when the link is used; your present address cancels the request. Otherwise, it changes at once and is not verified. In a browser session, it requires step-up.',
    responses: { 200: json('the account, with its present address', account, accountExample) },
    errors: ['step_up_required', 'email_taken', 'rate_limited'],
    handle: async ({ clients, deps }, { request, auth, body }) =>
      toAccount(await changeEmail(deps, auth.actor, body.email, clients.of(request.message))),
  }),
  route('PUT', '/api/v1/me/password', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(passwordChange, {
      currentPassword: 'magnolia tugboat 17 linen',
      newPassword: 'four candles, no fork handles',
    }),
    id: 'changePassword',
    summary: 'Change your password',
    description:
      "Ends all sessions except the one of the request's token, unused password links, and approved logins whose token was not fetched yet. Tokens and keys stay valid unless `revokeTokens` is `true`.",
    responses: { 204: { description: 'changed' } },
    errors: ['weak_password', 'invalid_credentials', 'conflict', 'unavailable'],
    handle: ({ deps }, { auth, body }) => changePassword(deps, auth.actor, body),
  }),
  route('GET', '/api/v1/sessions', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    query: pageQuery,
    id: 'listSessions',
    summary: 'List your browser sessions',
    responses: { 200: jsonList('the sessions', session, sessionExample) },
    handle: async ({ deps }, { auth: { actor }, query }) =>
      toList(await listSessions(deps, actor, toPage(query)), (record) => toSession(record, actor)),
  }),
  route('DELETE', '/api/v1/sessions/:sessionId', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    id: 'endSession',
    summary: 'End a browser session, immediately',
    responses: { 204: { description: 'ended' } },
    errors: ['not_found'],
    handle: ({ deps }, { auth, params }) => endOwnSession(deps, auth.actor, params.sessionId),
  }),
];
