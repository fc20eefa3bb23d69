import { pageQuery, pendingLogin, revokeAllInput, revokedCredentials } from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example, revokedCredentialsExample } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toPendingLogin } from './account-wire.ts';
import { listPendingLogins, revokePendingLogin } from './oauth/pending-logins.ts';
import { revokeOwnCredentials } from './revoke-credentials.ts';

const route = routeTagged('Account');
const access = { kind: 'user', scope: 'manage', userLevel: true } as const;

export const credentialRoutes: readonly Route[] = [
  route('POST', '/api/v1/credentials/revoke-all', {
    access,
    body: jsonBody(revokeAllInput, { includeCurrent: false }),
    id: 'revokeAllCredentials',
    summary: 'Revoke all your other sessions, tokens, API keys, pending logins and links, immediately',
    description:
      'Browsers are no longer known to the account. Passwords and passkeys stay. In a browser session, it requires a recent step-up.',
    responses: { 200: json('the numbers of the revoked ones', revokedCredentials, revokedCredentialsExample) },
    errors: ['step_up_required'],
    handle: ({ deps }, { auth, body }) => revokeOwnCredentials(deps, auth.actor, body.includeCurrent === true),
  }),
  route('GET', '/api/v1/logins', {
    access,
    query: pageQuery,
    id: 'listPendingLogins',
    summary: 'List logins with a device code that you approved and whose token was not fetched yet',
    responses: {
      200: jsonList('the logins', pendingLogin, {
        id: example.deviceGrantId,
        deviceName: 'ada-laptop',
        address: '192.0.2.7',
        scopes: ['read' as const],
        createdAt: example.time,
        expiresAt: '2026-03-01T12:10:00.000Z',
      }),
    },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listPendingLogins(deps, auth.actor, toPage(query)), toPendingLogin),
  }),
  route('DELETE', '/api/v1/logins/:loginId', {
    access,
    id: 'revokePendingLogin',
    summary: 'Revoke an approved login before its token is fetched',
    responses: { 204: { description: 'revoked' } },
    errors: ['not_found'],
    handle: ({ deps }, { auth, params }) => revokePendingLogin(deps, auth.actor, params.loginId),
  }),
];
