import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { tokenScope } from './schemas.ts';
import { Type } from './type.ts';

/* Command-line login: OAuth 2.0 with PKCE (RFC 6749, 7636, 8252) and the device grant (RFC 8628). */

/** The only client: the command-line tool, a public client without a secret. */
export const cliClientId = 'tenon-cli';

/** The paths of the endpoints, relative to the issuer's URL. */
export const oauthPaths = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  deviceAuthorization: '/oauth/device_authorization',
  revoke: '/oauth/revoke',
  /** The page on which the user enters a device's code. */
  device: '/device',
} as const;

/** RFC 8693 §2.1. */
export const tokenExchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The types of tokens in an exchange (RFC 8693 §3). */
export const tokenTypes = {
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
} as const;

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * The query parameters of the authorization endpoint (RFC 6749 §4.1.1, RFC 7636 §4.3). `device_name`, the requesting machine's name, is an
 * extension.
 */
export const authorizationParameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'device_name',
] as const;
export type AuthorizationParameter = (typeof authorizationParameters)[number];

/**
 * An authorization request: the unparsed query of the authorization endpoint. The page sends it unchanged, so that the server finds all its
 * faults, such as a repeated parameter.
 */
export const authorizationRequest = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "the query of the authorization endpoint's URL as it came, without the question mark",
});

export const authorizationViewInput = Type.Object({ request: authorizationRequest });

/** What the approval page shows. */
export const authorizationView = Type.Object({
  flow: oneOf(['loopback', 'device']),
  client: Type.Object({ id: Type.String(), name: Type.String() }),
  deviceName: nullable(Type.String(), { description: "the requesting machine's name, which is not verified" }),
  address: Type.String({ description: 'the network address of the requesting machine' }),
  scopes: Type.Array(tokenScope),
  userCode: Type.String({ description: 'the code that the terminal shows: `BCDF-GHJK`' }),
  tokenLifetimeDays: Type.Integer({ description: 'the lifetime of the token' }),
  requestedAt: timestamp('when the login was requested'),
});
export type AuthorizationView = Static<typeof authorizationView>;

const decisionFields = {
  decision: oneOf(['approve', 'deny']),
  scopes: Type.Optional(
    Type.Array(tokenScope, { minItems: 1, uniqueItems: true, description: 'grant only these of the requested scopes' }),
  ),
  userId: Type.Optional(
    id('user', 'the user that the page shows; the request fails if another user has signed in since, in another tab'),
  ),
};

export const authorizationDecision = Type.Object({ request: authorizationRequest, ...decisionFields });

/** The URL to redirect the browser to: the program's redirect URI, with a code or an error. */
export const authorizationOutcome = Type.Object({ redirectTo: Type.String() });
export type AuthorizationOutcome = Static<typeof authorizationOutcome>;

export const userCodeInput = Type.Object({ userCode: Type.String({ minLength: 1, maxLength: 50 }) });

export const deviceDecision = Type.Object({ userCode: userCodeInput.properties.userCode, ...decisionFields });

/** RFC 8414. */
export const oauthMetadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  device_authorization_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  scopes_supported: Type.Array(tokenScope),
  response_types_supported: Type.Array(Type.String()),
  response_modes_supported: Type.Array(Type.String()),
  grant_types_supported: Type.Array(Type.String()),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
  code_challenge_methods_supported: Type.Array(Type.String()),
  authorization_response_iss_parameter_supported: Type.Boolean(),
  service_documentation: Type.String(),
});
export type OauthMetadata = Static<typeof oauthMetadata>;

/** RFC 8628 §3.2. */
export const deviceAuthorization = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer({ description: 'seconds' }),
  interval: Type.Integer({ description: 'seconds to wait between two polls' }),
});
export type DeviceAuthorization = Static<typeof deviceAuthorization>;

/** RFC 6749 §5.1, and RFC 8693 §2.2.1. */
export const oauthToken = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'seconds' }),
  scope: Type.String({ description: 'scopes, separated by spaces' }),
  issued_token_type: Type.Optional(Type.Literal(tokenTypes.accessToken, { description: 'of a token exchange' })),
});
export type OauthToken = Static<typeof oauthToken>;

/** RFC 6749 §5.2, RFC 8628 §3.5 and RFC 8693 §2.2.2. */
export const oauthErrorCode = oneOf([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'unsupported_token_type',
  'invalid_scope',
  'invalid_target',
  'access_denied',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'server_error',
  'temporarily_unavailable',
]);
export type OauthErrorCode = Static<typeof oauthErrorCode>;

/** The error response of OAuth's endpoints. */
export const oauthError = Type.Object({ error: oauthErrorCode, error_description: Type.Optional(Type.String()) });
export type OauthError = Static<typeof oauthError>;
