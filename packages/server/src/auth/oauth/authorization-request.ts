import {
  type AuthorizationParameter,
  authorizationParameters,
  loopbackRedirectPath,
  type OauthErrorCode,
  type TokenScope,
} from '@tenon/protocol';
import { DomainError } from '../../http/domain-errors.ts';
import { type Client, findClient } from './clients.ts';
import { cleanDeviceName } from './device-name.ts';
import { OauthError, requireParameter } from './errors.ts';
import { isCodeChallenge } from './pkce.ts';
import { parseScopes } from './scopes.ts';

/** The parts of the redirect that responds to an authorization request. */
interface ReturnAddress {
  readonly redirectUri: string;
  /** Returned unchanged (RFC 6749 §4.1.2). */
  readonly state: string | undefined;
  /** The issuer's URL, so that the client knows which server responds (RFC 9207). */
  readonly issuer: string;
}

/** A valid authorization request, which the user can approve or deny. */
export interface ValidRequest {
  readonly client: Client;
  readonly returnTo: ReturnAddress;
  readonly scopes: readonly TokenScope[];
  readonly codeChallenge: string;
  readonly deviceName: string | null;
}

/** An invalid authorization request. The redirect passes an error to the client. */
interface RefusedRequest {
  readonly redirectTo: string;
}

/** The maximum length of `state`, which becomes part of a URL. */
const maxStateLength = 1000;

/**
 * Parses an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3).
 *
 * @param query the query string of the authorization endpoint
 * @returns the valid request, or a redirect with an error
 * @throws DomainError `invalid_request` if the client or its redirect URI is invalid. Then the browser must not be redirected
 *   (RFC 6749 §4.1.2.1)
 */
export function parseAuthorizationRequest(query: string, issuer: string): ValidRequest | RefusedRequest {
  const sent = new URLSearchParams(query);
  const client = findClient(single(sent, 'client_id') ?? '');
  if (client === undefined) throw untrusted('"client_id" is missing, repeated, or unknown.');
  const redirectUri = single(sent, 'redirect_uri');
  if (redirectUri === undefined || !isLoopbackRedirect(redirectUri)) {
    const expected = `http://127.0.0.1:<port>${loopbackRedirectPath} or http://[::1]:<port>${loopbackRedirectPath}`;
    throw untrusted(`"redirect_uri" is missing, repeated, or not ${expected}.`);
  }
  const returnTo: ReturnAddress = { redirectUri, state: single(sent, 'state'), issuer };
  try {
    return { client, returnTo, ...parseRest(sent) };
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return { redirectTo: redirectWithError(returnTo, error.code, error.message) };
  }
}

/** @throws OauthError */
function parseRest(sent: URLSearchParams): Pick<ValidRequest, 'scopes' | 'codeChallenge' | 'deviceName'> {
  for (const name of authorizationParameters) {
    if (sent.getAll(name).length > 1) throw new OauthError('invalid_request', `${name} is repeated.`);
  }
  const responseType = requireParameter('response_type', single(sent, 'response_type'));
  if (responseType !== 'code') throw new OauthError('unsupported_response_type', 'The response type must be "code".');
  if ((single(sent, 'state')?.length ?? 0) > maxStateLength) {
    throw new OauthError('invalid_request', `state must have at most ${maxStateLength} characters.`);
  }
  const codeChallenge = requireParameter('code_challenge', single(sent, 'code_challenge'));
  if (single(sent, 'code_challenge_method') !== 'S256') {
    throw new OauthError('invalid_request', 'The code challenge method must be S256.'); // RFC 7636 §4.4.1
  }
  if (!isCodeChallenge(codeChallenge)) {
    throw new OauthError('invalid_request', 'The code challenge must be a SHA-256 in base64url.');
  }
  return {
    codeChallenge,
    scopes: parseScopes(single(sent, 'scope')),
    deviceName: cleanDeviceName(single(sent, 'device_name')),
  };
}

/** Returns a parameter that occurs once. One without a value counts as omitted (RFC 6749 §3.1). */
function single(sent: URLSearchParams, name: AuthorizationParameter): string | undefined {
  const [value, ...others] = sent.getAll(name);
  return value === '' || others.length > 0 ? undefined : value;
}

/** Allows any port of the loopback addresses (RFC 8252 §7.3), but no host name, which could resolve to another address (§8.3). */
function isLoopbackRedirect(uri: string): boolean {
  const match = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})(\/.*)$/.exec(uri);
  return match?.[2] === loopbackRedirectPath && Number(match[1]) < 65_536;
}

function untrusted(reason: string): DomainError {
  return new DomainError('invalid_request', `The login request is invalid: ${reason}`);
}

/** Returns the URL that passes an error to the client. */
export function redirectWithError(returnTo: ReturnAddress, error: OauthErrorCode, description: string): string {
  return redirectWith(returnTo, { error, error_description: description });
}

/** Returns the URL that passes parameters to the client. */
export function redirectWith(
  { redirectUri, state, issuer }: ReturnAddress,
  parameters: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  if (state !== undefined && state.length <= maxStateLength) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuer);
  return url.href;
}
