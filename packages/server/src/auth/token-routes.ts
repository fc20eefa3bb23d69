import {
  apiKeyCreated,
  apiKeyInfo,
  apiKeyInput,
  creationListQuery,
  me,
  tokenCreated,
  tokenInfo,
  tokenInput,
} from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { type Actor, requireActiveToken, requireScope } from './access.ts';
import { toAccount, toApiKeyInfo, toListedApiKey, toListedToken, toTokenInfo } from './account-wire.ts';
import { readAccount } from './accounts.ts';
import { createApiKey, createToken, listApiKeys, listTokens, revokeApiKey, revokeToken } from './tokens.ts';

const route = routeTagged('Tokens and keys');

const tokenExample = {
  id: example.tokenId,
  name: 'CI',
  scopes: ['publish' as const],
  appId: null,
  plugin: null,
  guestId: null,
  networks: null,
  trustRuleId: null,
  claims: null,
  createdAt: example.time,
  expiresAt: '2026-05-30T12:00:00.000Z',
  lastUsedAt: null,
};

const apiKeyExample = {
  id: example.apiKeyId,
  name: 'build server',
  createdAt: example.time,
  expiresAt: '2026-07-30T12:00:00.000Z',
  lastUsedAt: null,
};

export const tokenRoutes: readonly Route[] = [
  route('GET', '/api/v1/me', {
    access: { kind: 'user' },
    id: 'readMe',
    summary: 'Read your account and the token of the request',
    description:
      '`email` is `null` for a token with only the scope `read`, or restricted to one application, and the fields about mail are missing.',
    responses: {
      200: json('the account', me, {
        id: example.userId,
        name: 'Ada',
        email: null,
        isOperator: false,
        mayCreateApps: true,
        token: tokenExample,
      }),
    },
    handle: async ({ deps }, { auth: { actor } }) => {
      const { email, isEmailVerified, hasPassword, notices, ...account } = toAccount(
        await readAccount(deps, actor.userId),
      );
      const details = mayReadEmail(actor) ? { email, isEmailVerified, hasPassword, notices } : { email: null };
      return { ...account, ...details, token: toTokenInfo(await requireActiveToken(deps.store.read, actor)) };
    },
  }),
  route('GET', '/api/v1/tokens', {
    access: { kind: 'user', scope: 'read' },
    query: creationListQuery,
    id: 'listTokens',
    summary: 'List your access tokens, without their secrets',
    responses: { 200: jsonList('the tokens', tokenInfo, tokenExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(
        await listTokens(deps, auth.actor, toPage(query)),
        (token) => toListedToken(token, auth.actor),
        query.sort,
      ),
  }),
  route('POST', '/api/v1/tokens', {
    access: { kind: 'user', scope: 'manage' },
    body: jsonBody(tokenInput, { name: 'CI', scopes: ['publish'], expiresInDays: 30 }),
    id: 'createToken',
    summary: "Create an access token, with at most the rights of the request's token",
    description:
      "The lifetime is 90 days by default for a token that only reads, and 7 days by default, 90 at most, for one with `publish` or `manage`. A token that a program's token creates doesn't outlive it. In a browser session, it requires step-up.",
    responses: {
      201: json('the token with its secret, which is shown only once', tokenCreated, {
        ...tokenExample,
        token: 'tnn_0000000000000000000000000000AbCdEf',
      }),
    },
    errors: ['forbidden', 'step_up_required', 'quota_exceeded'],
    handle: async ({ deps }, { auth, body }) => {
      const { record, secret } = await createToken(deps, auth.actor, body);
      return { ...toTokenInfo(record), token: secret };
    },
  }),
  route('DELETE', '/api/v1/tokens/:tokenId', {
    access: { kind: 'user' },
    id: 'revokeToken',
    summary: 'Revoke an access token, immediately',
    description: 'Any token can revoke itself. Revoking another one requires the scope `manage`.',
    responses: { 204: { description: 'revoked' } },
    errors: ['not_found', 'insufficient_scope'],
    beforeBody: (_services, { auth: { actor }, params }) => {
      if (params.tokenId !== actor.tokenId) requireScope(actor, 'manage');
    },
    handle: ({ deps }, { auth, params }) => revokeToken(deps, auth.actor, params.tokenId),
  }),
  route('GET', '/api/v1/api-keys', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    query: creationListQuery,
    id: 'listApiKeys',
    summary: 'List your API keys, without their secrets',
    responses: { 200: jsonList('the keys', apiKeyInfo, apiKeyExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listApiKeys(deps, auth.actor, toPage(query)), (key) => toListedApiKey(key, auth.actor), query.sort),
  }),
  route('POST', '/api/v1/api-keys', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(apiKeyInput, { name: 'build server', expiresInDays: 90 }),
    id: 'createApiKey',
    summary: 'Create an API key, which is valid for the instrumentation endpoint only',
    description:
      "The lifetime is 90 days by default and 365 at most. A program's token can't create a key that outlives it, and revoking the token revokes its keys. In a browser session, it requires step-up.",
    responses: {
      201: json('the key with its secret, which is shown only once', apiKeyCreated, {
        ...apiKeyExample,
        apiKey: 'tnk_0000000000000000000000000000AbCdEf',
      }),
    },
    errors: ['forbidden', 'step_up_required', 'quota_exceeded'],
    handle: async ({ deps }, { auth, body }) => {
      const { record, secret } = await createApiKey(deps, auth.actor, body);
      return { ...toApiKeyInfo(record), apiKey: secret };
    },
  }),
  route('DELETE', '/api/v1/api-keys/:apiKeyId', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    id: 'revokeApiKey',
    summary: 'Revoke an API key, immediately',
    responses: { 204: { description: 'revoked' } },
    errors: ['not_found'],
    handle: ({ deps }, { auth, params }) => revokeApiKey(deps, auth.actor, params.apiKeyId),
  }),
];

/** Hosts and builds don't need the e-mail address of their token's owner. Their tokens only read, or are restricted to one application. */
function mayReadEmail({ scopes, appId }: Actor): boolean {
  return appId === null && scopes.some((scope) => scope !== 'read');
}
