import {
  cliClientId,
  deviceAuthorization,
  deviceCodeGrantType,
  oauthError,
  oauthMetadata,
  oauthPaths,
  oauthToken,
  tokenExchangeGrantType,
  tokenTypes,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { formFields } from '../../http/bodies/form-fields.ts';
import { networkOf } from '../../http/client-address.ts';
import { TooManyAttemptsError } from '../../http/domain-errors.ts';
import type { Request } from '../../http/request.ts';
import { json, type Route, routeTagged } from '../../http/route.ts';
import type { Services } from '../../services.ts';
import { withGrantTries, withRevocationTries } from '../code-attempts.ts';
import type { NewToken } from '../tokens.ts';
import { exchangeIdToken } from '../trusted-publishing/exchange.ts';
import { exchangeCode } from './authorization-codes.ts';
import { requireClient } from './clients.ts';
import { deviceGrantLifetimeMs, redeemDeviceCode, startDeviceGrant } from './device-grants.ts';
import { pollIntervalSeconds } from './device-polls.ts';
import { OauthError, requireParameter } from './errors.ts';
import { revokeBearer } from './login-tokens.ts';
import { ClientAuthenticationError, oauthErrorFormat } from './oauth-error.ts';
import { allScopes } from './scopes.ts';

const route = routeTagged('Command-line login');
const issuer = 'http://localhost:8366';

const clientId = Type.Optional(Type.String({ description: `\`${cliClientId}\`` }));
const clientSecret = Type.Optional(Type.String({ description: 'must be absent: the client is public' }));

/** The common options of the routes with OAuth's error format. RFC 6749 §5.1 requires `pragma` besides `cache-control`. */
const oauthOptions = {
  area: 'distribution',
  errorFormat: oauthErrorFormat,
  headers: () => ({ pragma: 'no-cache' }),
} as const;

const tokenBody = formFields(
  Type.Object({
    grant_type: Type.Optional(
      Type.String({
        description: `\`authorization_code\`, \`${deviceCodeGrantType}\`, or \`${tokenExchangeGrantType}\``,
      }),
    ),
    client_id: clientId,
    client_secret: clientSecret,
    code: Type.Optional(Type.String({ description: 'the authorization code' })),
    redirect_uri: Type.Optional(
      Type.String({ description: 'the redirect URI of the authorization request, unchanged' }),
    ),
    code_verifier: Type.Optional(Type.String({ description: 'the PKCE code verifier (RFC 7636)' })),
    device_code: Type.Optional(Type.String({ description: 'the device code (RFC 8628)' })),
    subject_token: Type.Optional(Type.String({ description: 'the identity token of a CI job (RFC 8693)' })),
    subject_token_type: Type.Optional(
      Type.String({ description: `\`${tokenTypes.idToken}\` or \`${tokenTypes.jwt}\`` }),
    ),
    requested_token_type: Type.Optional(Type.String({ description: `\`${tokenTypes.accessToken}\`; may be absent` })),
    actor_token: Type.Optional(Type.String({ description: 'must be absent' })),
    audience: Type.Optional(
      Type.String({
        description:
          'the plugin, if several rules match: `<extension point>/<name>`, or `<extension point>/plugin/<user>/<name>`',
      }),
    ),
    scope: Type.Optional(Type.String({ description: 'of a token exchange: `publish` (default), or `read publish`' })),
  }),
  {
    grant_type: 'authorization_code',
    client_id: cliClientId,
    code: 'SplxlOBeZQQYbYS6WxSbIA2nF3fM0Vy9sd4jC1kYwEo',
    redirect_uri: 'http://127.0.0.1:51004/callback',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  },
);

const deviceBody = formFields(
  Type.Object({
    client_id: clientId,
    client_secret: clientSecret,
    scope: Type.Optional(
      Type.String({ description: '`read`, `publish`, `manage`, separated by spaces; default `read publish`' }),
    ),
    device_name: Type.Optional(
      Type.String({ description: "an extension of this server: the requesting machine's name" }),
    ),
  }),
  { client_id: cliClientId, scope: 'read publish', device_name: 'build-7' },
);

const revocationBody = formFields(
  Type.Object({
    token: Type.Optional(Type.String({ description: 'the access token' })),
    token_type_hint: Type.Optional(Type.String({ description: 'ignored' })),
    client_id: clientId,
    client_secret: clientSecret,
  }),
  { token: 'tnn_0000000000000000000000000000AbCdEf', client_id: cliClientId },
);

const oauthErrors = (...codes: readonly string[]) => ({
  400: {
    description: codes.map((code) => `\`${code}\``).join(', '),
    schema: oauthError,
    example: { error: 'invalid_request' as const, error_description: 'The parameter client_id is missing.' },
  },
  401: {
    description: '`invalid_client`: the client sent a secret, although it is public',
    headers: { 'www-authenticate': 'the scheme of the request' },
    schema: oauthError,
    example: { error: 'invalid_client' as const },
  },
});

export const oauthRoutes: readonly Route[] = [
  route('GET', oauthPaths.metadata, {
    access: { kind: 'public' },
    id: 'readOauthMetadata',
    summary: 'Read the metadata of the authorization server (RFC 8414)',
    description:
      'If the base URL has a path, the metadata is also at `https://host/.well-known/oauth-authorization-server/path` (RFC 8414 §3.1).',
    responses: { 200: json('the metadata', oauthMetadata, metadataOf(issuer)) },
    handle: ({ addresses }) => metadataOf(addresses.base()),
  }),
  route('POST', oauthPaths.token, {
    access: { kind: 'public' },
    ...oauthOptions,
    body: tokenBody,
    id: 'exchangeForToken',
    summary: 'Exchange an approved code for an access token',
    description:
      'Takes an authorization code (RFC 6749 §4.1.3) with its PKCE verifier (RFC 7636, S256 only), or a device code (RFC 8628 §3.4). Each code works once. An authorization code expires after a minute; a second request with it revokes the token that it was exchanged for. The token is valid for 30 days. Also takes the identity token of a CI job that a rule of trusted publishing matches (RFC 8693), once; this token is valid for 15 minutes.',
    responses: {
      200: json('the token, which is shown only once', oauthToken, {
        access_token: 'tnn_0000000000000000000000000000AbCdEf',
        token_type: 'Bearer',
        expires_in: 2_592_000,
        scope: 'read publish',
      }),
      ...oauthErrors(
        'invalid_request',
        'invalid_client',
        'invalid_grant',
        'unsupported_grant_type',
        'invalid_scope',
        'invalid_target',
        'authorization_pending',
        'slow_down',
        'access_denied',
        'expired_token',
      ),
    },
    errors: ['rate_limited', 'unavailable', 'storage_full'],
    handle: async (services, { request, body }) => {
      rejectClientSecret(request, body.client_secret);
      if (body.grant_type === tokenExchangeGrantType) return exchangeToken(services, request, body);
      return toOauthToken(await withGrantTries(services, request, () => redeem(services, body)));
    },
  }),
  route('POST', oauthPaths.deviceAuthorization, {
    access: { kind: 'public' },
    ...oauthOptions,
    body: deviceBody,
    id: 'startDeviceLogin',
    summary: 'Start a login on a machine without a browser (RFC 8628)',
    description:
      'A person opens `verification_uri`, enters the code, compares the details on the page, and approves or denies. Meanwhile the machine polls the token endpoint every `interval` seconds.',
    responses: {
      200: json('the codes, which are shown only once', deviceAuthorization, {
        device_code: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eSYE',
        user_code: 'WDJB-MJHT',
        verification_uri: `${issuer}${oauthPaths.device}`,
        verification_uri_complete: `${issuer}${oauthPaths.device}?user_code=WDJB-MJHT`,
        expires_in: 600,
        interval: pollIntervalSeconds,
      }),
      ...oauthErrors('invalid_request', 'invalid_client', 'invalid_scope'),
    },
    errors: ['rate_limited', 'unavailable', 'storage_full'],
    handle: async (services, { request, body }) => {
      rejectClientSecret(request, body.client_secret);
      const client = requireClient(body.client_id);
      const address = services.clients.of(request.message);
      const seconds = services.deviceLogins.take(networkOf(address));
      if (seconds > 0) throw new TooManyAttemptsError('Your address started too many logins.', seconds);
      const deviceRequest = { client, scope: body.scope, deviceName: body.device_name, address };
      const { deviceCode, userCode } = await startDeviceGrant(services.deps, deviceRequest);
      const page = services.addresses.base() + oauthPaths.device;
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: deviceGrantLifetimeMs / 1000,
        interval: pollIntervalSeconds,
      };
    },
  }),
  route('POST', oauthPaths.revoke, {
    access: { kind: 'public' },
    ...oauthOptions,
    body: revocationBody,
    id: 'revokeOauthToken',
    summary: 'Revoke an access token (RFC 7009)',
    description:
      "Works for any access token; the token itself is the only credential. The response is the same for an unknown token. Unknown tokens count against a limit of the caller's address.",
    responses: {
      200: { description: 'the token is invalid' },
      ...oauthErrors('invalid_request', 'invalid_client', 'unsupported_token_type'),
    },
    errors: ['rate_limited', 'unavailable', 'storage_full'],
    handle: async (services, { request, body }, reply) => {
      rejectClientSecret(request, body.client_secret);
      if (body.client_id !== undefined) requireClient(body.client_id);
      const token = requireParameter('token', body.token);
      await withRevocationTries(services, request, () => revokeBearer(services.deps, token));
      return reply.send();
    },
  }),
];

/**
 * RFC 8693 §2. The client is public, so that its id may be absent.
 *
 * @throws OauthError
 */
async function exchangeToken(
  { deps, issuerKeys, clients, addresses }: Services,
  { message }: Request,
  body: Readonly<Record<string, string>>,
) {
  if (body.client_id !== undefined) requireClient(body.client_id);
  const subjectToken = requireParameter('subject_token', body.subject_token);
  const type = requireParameter('subject_token_type', body.subject_token_type);
  if (type !== tokenTypes.idToken && type !== tokenTypes.jwt) {
    throw new OauthError('invalid_request', `The subject_token_type must be ${tokenTypes.idToken}.`);
  }
  const { requested_token_type: requested = tokenTypes.accessToken, actor_token: actorToken } = body;
  if (requested !== tokenTypes.accessToken || actorToken !== undefined) {
    throw new OauthError('invalid_request', 'Only an access token can be requested, and for no other actor.');
  }
  const { audience, scope } = body;
  const exchange = { subjectToken, audience, scope, address: clients.of(message), serverUrl: addresses.base() };
  const token = await exchangeIdToken(deps, issuerKeys, exchange);
  return { ...toOauthToken(token), issued_token_type: tokenTypes.accessToken };
}

/** @throws OauthError */
function redeem({ deps, devicePolls }: Services, body: Readonly<Record<string, string>>): Promise<NewToken> {
  const grantType = requireParameter('grant_type', body.grant_type);
  const { id } = requireClient(body.client_id);
  switch (grantType) {
    case 'authorization_code':
      return exchangeCode(deps, {
        clientId: id,
        code: requireParameter('code', body.code),
        redirectUri: requireParameter('redirect_uri', body.redirect_uri),
        codeVerifier: requireParameter('code_verifier', body.code_verifier),
      });
    case deviceCodeGrantType: {
      const deviceCode = requireParameter('device_code', body.device_code);
      return redeemDeviceCode(deps, devicePolls, { clientId: id, deviceCode });
    }
    default:
      throw new OauthError(
        'unsupported_grant_type',
        'The grant type is not supported. The metadata lists the supported ones.',
      );
  }
}

/** Rejects a client that sends a secret: it is misconfigured, and may be leaking a real secret. */
function rejectClientSecret(request: Request, secret: string | undefined): void {
  const usesBasic = /^basic /i.test(request.headers.authorization ?? '');
  if (usesBasic || secret !== undefined) throw new ClientAuthenticationError(usesBasic);
}

function toOauthToken({ record, secret }: NewToken) {
  return {
    access_token: secret,
    token_type: 'Bearer',
    expires_in: Math.floor((record.expiresAtMs - record.createdAtMs) / 1000),
    scope: record.scopes.join(' '),
  };
}

function metadataOf(base: string) {
  return {
    issuer: base,
    authorization_endpoint: base + oauthPaths.authorize,
    token_endpoint: base + oauthPaths.token,
    device_authorization_endpoint: base + oauthPaths.deviceAuthorization,
    revocation_endpoint: base + oauthPaths.revoke,
    scopes_supported: [...allScopes],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', deviceCodeGrantType, tokenExchangeGrantType],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${base}/openapi.json`,
  };
}
