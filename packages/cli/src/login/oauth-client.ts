import {
  cliClientId,
  type DeviceAuthorization,
  deviceAuthorization,
  type OauthErrorCode,
  type OauthMetadata,
  type OauthToken,
  oauthError,
  oauthMetadata,
  oauthPaths,
  oauthToken,
  type TokenScope,
  tokenExchangeGrantType,
  tokenTypes,
} from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import type { Static, TSchema } from 'typebox';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseServerUrl } from '../server-url.ts';
import { printable } from '../text.ts';
import { dropBody, readAnswer, readRefusal, refusal, send, type Target } from '../transport.ts';

/** The scopes and the machine of a login. */
export interface LoginRequest {
  /** The server's default when absent. */
  readonly scopes: readonly TokenScope[] | undefined;
  /** The name on the approval page, and of the token. */
  readonly deviceName: string;
}

/** The request parameters of a login. */
export function loginParameters({ scopes, deviceName }: LoginRequest): Record<string, string> {
  return {
    client_id: cliClientId,
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
    device_name: deviceName,
  };
}

/** Request parameters of OAuth's endpoints. */
export type Parameters = Readonly<Record<string, string>>;

/** An error response of RFC 6749 §5.2. */
export interface OauthRefusal {
  readonly error: OauthErrorCode;
  readonly description: string | undefined;
}

/**
 * Reads the metadata of the server's authorization endpoints (RFC 8414), and checks the issuer.
 *
 * For a URL with a path, it first tries the document below that path, because other sites may share the host, then the location of
 * RFC 8414 §3.1.
 *
 * @throws CliError `login_not_supported` from a server without command-line login, `issuer_mismatch` from one that names another
 */
export async function readMetadata(target: Target): Promise<OauthMetadata> {
  const { origin, pathname } = new URL(target.url);
  const places = [target.url + oauthPaths.metadata, `${origin}${oauthPaths.metadata}${pathname.replace(/\/+$/, '')}`];
  for (const place of new Set(places)) {
    const answer = await send(target, place, { method: 'GET' });
    if (answer.response.ok) return checkMetadata(await readAnswer(answer, oauthMetadata), target.url);
    if (answer.response.status !== 404) throw refusal(answer, await readRefusal(answer));
    await dropBody(answer);
  }
  throw new CliError('login_not_supported', `${target.url} does not support log-in from the command line.`, {
    exitCode: exitCodes.notFound,
    hint: [
      'Is this the URL of a Tenon server? Servers for instrumentation only have no log-in.',
      'If you have a token, set TENON_TOKEN instead.',
    ].join('\n'),
  });
}

/** RFC 8414 §3.3: the issuer must be the requested server, and its endpoints must have its origin. */
function checkMetadata(metadata: OauthMetadata, url: string): OauthMetadata {
  const { issuer } = metadata;
  if (parseServerUrl(issuer) !== url) {
    throw new CliError('issuer_mismatch', `The server at ${url} identifies itself as ${printable(issuer)}.`, {
      hint: `If you trust that server: tenon login --server ${printable(issuer)}`,
    });
  }
  const { authorization_endpoint, token_endpoint, device_authorization_endpoint } = metadata;
  for (const endpoint of [authorization_endpoint, token_endpoint, device_authorization_endpoint]) {
    if (URL.parse(endpoint)?.origin === new URL(url).origin) continue;
    throw new CliError('unexpected_response', `${url} sends logins to another site: ${printable(endpoint)}.`, {
      hint: 'A Tenon server has these endpoints at its own address.',
    });
  }
  return metadata;
}

/** Requests a token. @returns the token, or the error, which may mean "not yet" */
export function requestToken(
  target: Target,
  { token_endpoint }: OauthMetadata,
  parameters: Parameters,
): Promise<OauthToken | OauthRefusal> {
  return post(target, token_endpoint, { ...parameters, client_id: cliClientId }, oauthToken);
}

/** Requests a device code (RFC 8628 §3.1). */
export function requestDeviceCode(
  target: Target,
  { device_authorization_endpoint }: OauthMetadata,
  loginRequest: LoginRequest,
): Promise<DeviceAuthorization | OauthRefusal> {
  return post(target, device_authorization_endpoint, loginParameters(loginRequest), deviceAuthorization);
}

/**
 * Exchanges the identity token of a CI job for an access token (RFC 8693).
 *
 * @param audience the plugin to publish
 */
export function exchangeIdToken(
  target: Target,
  idToken: string,
  audience: string | undefined,
): Promise<OauthToken | OauthRefusal> {
  const parameters = {
    grant_type: tokenExchangeGrantType,
    subject_token: idToken,
    subject_token_type: tokenTypes.idToken,
    scope: 'read publish',
    ...(audience !== undefined && { audience }),
  };
  return post(target, oauthPaths.token, parameters, oauthToken);
}

/** Revokes a token (RFC 7009). @throws CliError if the server does not confirm it */
export async function revokeToken(target: Target, token: string): Promise<void> {
  const parameters = { token, token_type_hint: 'access_token', client_id: cliClientId };
  const answer = await send(target, oauthPaths.revoke, formOf(parameters));
  if (!answer.response.ok) throw refusal(answer, await readRefusal(answer));
  await dropBody(answer);
}

async function post<T extends TSchema>(
  target: Target,
  endpoint: string,
  parameters: Parameters,
  schema: T,
): Promise<Static<T> | OauthRefusal> {
  const answer = await send(target, endpoint, formOf(parameters));
  if (answer.response.ok) return readAnswer(answer, schema);
  const body = await readRefusal(answer);
  if (!isValid(oauthError, body)) throw refusal(answer, body);
  return { error: body.error, description: body.error_description };
}

function formOf(parameters: Parameters) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', headers, body: new URLSearchParams(parameters).toString() };
}

/** The error of a refused login. */
export function loginRefused({ error, description }: OauthRefusal): CliError {
  switch (error) {
    case 'access_denied':
      return new CliError('access_denied', 'The login was denied: nothing was stored.', { exitCode: exitCodes.denied });
    case 'expired_token':
      return loginTimedOut();
    case 'temporarily_unavailable':
    case 'server_error':
      return new CliError(error, `The server can't log you in now${said(description)}.`, {
        exitCode: exitCodes.unavailable,
        hint: 'Try again in a while.',
      });
    default:
      return new CliError(error, `The server refused the login: ${error}${said(description)}.`, {
        exitCode: error === 'invalid_scope' ? exitCodes.refused : exitCodes.failure,
      });
  }
}

/** The login was not approved in time. */
export function loginTimedOut(): CliError {
  return new CliError('login_timeout', 'The login was not approved in time: nothing was stored.', {
    hint: 'Run it again to retry.',
  });
}

function said(description: string | undefined): string {
  return description === undefined ? '' : ` (${printable(description.replace(/\.$/, ''))})`;
}
