import type { Static } from 'typebox';
import { id, timestamp } from './fields.ts';
import { tokenScope } from './schemas.ts';
import { Type } from './type.ts';

/** Command-line login as it goes over the wire: OAuth 2.0 with PKCE (RFC 6749, 7636, 8252) and the device grant (RFC 8628). */

/** The one client there is: the command-line tool, a public client without a secret. */
export const cliClientId = 'tenon-cli';

/** Where things are, below the issuer's URL. */
export const oauthPaths = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  deviceAuthorization: '/oauth/device_authorization',
  revoke: '/oauth/revoke',
  /** The page on which a person types a device's code. */
  device: '/device',
} as const;

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * What the authorization endpoint takes in its query (RFC 6749 §4.1.1, RFC 7636 §4.3). Beside what those say: `device_name`, our
 * own, is what the asking machine calls itself.
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
 * An authorization request: the query of the authorization endpoint as the page got it, so that its faults (a parameter that is
 * there twice, for one) are the server's to find.
 */
export const authorizationRequest = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "the query of the authorization endpoint's URL as it came, without the question mark",
});

export const authorizationViewInput = Type.Object({ request: authorizationRequest });
export type AuthorizationViewInput = Static<typeof authorizationViewInput>;

/** What the approval page shows. */
export const authorizationView = Type.Object({
  flow: Type.Union([Type.Literal('loopback'), Type.Literal('device')]),
  client: Type.Object({ id: Type.String(), name: Type.String() }),
  deviceName: Type.Union([Type.String(), Type.Null()], {
    description: 'what the asking machine calls itself: a claim',
  }),
  address: Type.String({ description: 'the network address that asks' }),
  scopes: Type.Array(tokenScope),
  userCode: Type.String({ description: 'the code that the terminal shows too: `BCDF-GHJK`' }),
  tokenLifetimeDays: Type.Integer({ description: 'how long the token will work' }),
  requestedAt: timestamp('when it was asked'),
});
export type AuthorizationView = Static<typeof authorizationView>;

const decisionFields = {
  decision: Type.Union([Type.Literal('approve'), Type.Literal('deny')]),
  scopes: Type.Optional(
    Type.Array(tokenScope, { minItems: 1, uniqueItems: true, description: 'grant only these of what was asked for' }),
  ),
  password: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'the password again; demanded to grant `manage`' }),
  ),
  userId: Type.Optional(
    id('user', 'who decides, as the page showed it: refused when somebody else is signed in by now, in another tab'),
  ),
};

export const authorizationDecision = Type.Object({ request: authorizationRequest, ...decisionFields });
export type AuthorizationDecision = Static<typeof authorizationDecision>;

/** Where the browser goes next: back to the program that asked, with a code or an error. */
export const authorizationOutcome = Type.Object({ redirectTo: Type.String() });
export type AuthorizationOutcome = Static<typeof authorizationOutcome>;

export const userCodeInput = Type.Object({ userCode: Type.String({ minLength: 1, maxLength: 50 }) });

export const deviceDecision = Type.Object({ userCode: userCodeInput.properties.userCode, ...decisionFields });
export type DeviceDecision = Static<typeof deviceDecision>;

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
  interval: Type.Integer({ description: 'seconds to wait between two questions' }),
});
export type DeviceAuthorization = Static<typeof deviceAuthorization>;

/** RFC 6749 §5.1. */
export const oauthToken = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'seconds' }),
  scope: Type.String({ description: 'with spaces between them' }),
});
export type OauthToken = Static<typeof oauthToken>;

/** RFC 6749 §5.2 and RFC 8628 §3.5. */
export const oauthErrorCode = Type.Union([
  Type.Literal('invalid_request'),
  Type.Literal('invalid_client'),
  Type.Literal('invalid_grant'),
  Type.Literal('unauthorized_client'),
  Type.Literal('unsupported_grant_type'),
  Type.Literal('unsupported_response_type'),
  Type.Literal('unsupported_token_type'),
  Type.Literal('invalid_scope'),
  Type.Literal('access_denied'),
  Type.Literal('authorization_pending'),
  Type.Literal('slow_down'),
  Type.Literal('expired_token'),
  Type.Literal('server_error'),
  Type.Literal('temporarily_unavailable'),
]);
export type OauthErrorCode = Static<typeof oauthErrorCode>;

/** How OAuth's endpoints answer errors. */
export const oauthError = Type.Object({ error: oauthErrorCode, error_description: Type.Optional(Type.String()) });
export type OauthError = Static<typeof oauthError>;
