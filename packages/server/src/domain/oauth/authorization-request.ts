import {
  type AuthorizationParameter,
  authorizationParameters,
  loopbackRedirectPath,
  type OauthErrorCode,
  type TokenScope,
} from '@tenon/protocol';
import { DomainError } from '../errors.ts';
import { type Client, findClient } from './clients.ts';
import { cleanDeviceName } from './device-name.ts';
import { OauthError, requireParameter } from './errors.ts';
import { isCodeChallenge } from './pkce.ts';
import { parseScopes } from './scopes.ts';

/** Where the answer to an authorization request goes. */
export interface ReturnAddress {
  readonly redirectUri: string;
  /** Given back as it came (RFC 6749 §4.1.2). */
  readonly state: string | undefined;
  /** The issuer's URL, so that the client knows who answers (RFC 9207). */
  readonly issuer: string;
}

/** An authorization request that can be decided on. */
export interface ValidRequest {
  readonly client: Client;
  readonly returnTo: ReturnAddress;
  readonly scopes: readonly TokenScope[];
  readonly codeChallenge: string;
  readonly deviceName: string | null;
}

/** A request that is answered at once, with an error that the client gets. */
export interface RefusedRequest {
  readonly redirectTo: string;
}

/** The most characters of `state`: it goes back in a URL. */
const maxStateLength = 1000;

/**
 * Reads an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3).
 *
 * @param query the authorization endpoint's, as it came
 * @returns what can be decided on; or where the browser goes with the error, when it is known who asks and where they wait
 * @throws DomainError `invalid_request` where that isn't known: then nobody is sent anywhere (RFC 6749 §4.1.2.1)
 */
export function parseAuthorizationRequest(query: string, issuer: string): ValidRequest | RefusedRequest {
  const sent = new URLSearchParams(query);
  const client = findClient(single(sent, 'client_id') ?? '');
  if (client === undefined) throw untrusted('client_id is missing, twice there, or unknown.');
  const redirectUri = single(sent, 'redirect_uri');
  if (redirectUri === undefined || !isLoopbackRedirect(redirectUri)) {
    const wanted = `http://127.0.0.1:<port>${loopbackRedirectPath}`;
    throw untrusted(`redirect_uri is missing, twice there, or not like ${wanted} or the same on [::1].`);
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
    if (sent.getAll(name).length > 1) throw new OauthError('invalid_request', `${name} is there more than once.`);
  }
  const responseType = requireParameter('response_type', single(sent, 'response_type'));
  if (responseType !== 'code') throw new OauthError('unsupported_response_type', 'The response type is code.');
  if ((single(sent, 'state')?.length ?? 0) > maxStateLength) {
    throw new OauthError('invalid_request', `state may have ${maxStateLength} characters at the most.`);
  }
  const codeChallenge = requireParameter('code_challenge', single(sent, 'code_challenge'));
  if (single(sent, 'code_challenge_method') !== 'S256') {
    throw new OauthError('invalid_request', 'The code challenge method is S256.'); // RFC 7636 §4.4.1
  }
  if (!isCodeChallenge(codeChallenge)) {
    throw new OauthError('invalid_request', 'The code challenge is not a SHA-256 in base64url.');
  }
  return {
    codeChallenge,
    scopes: parseScopes(single(sent, 'scope')),
    deviceName: cleanDeviceName(single(sent, 'device_name')),
  };
}

/** A parameter that is there once. One without a value counts as left out (RFC 6749 §3.1). */
function single(sent: URLSearchParams, name: AuthorizationParameter): string | undefined {
  const [value, ...others] = sent.getAll(name);
  return value === '' || others.length > 0 ? undefined : value;
}

/** Any port of this machine's loopback addresses (RFC 8252 §7.3); no name, which could be made to lead elsewhere (§8.3). */
function isLoopbackRedirect(uri: string): boolean {
  const match = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})(\/.*)$/.exec(uri);
  return match?.[2] === loopbackRedirectPath && Number(match[1]) < 65_536;
}

function untrusted(what: string): DomainError {
  return new DomainError('invalid_request', `This is no login that a program of ours has begun: ${what}`);
}

/** Where the browser takes a code to. */
export function redirectWithCode(returnTo: ReturnAddress, code: string): string {
  return redirect(returnTo, { code });
}

/** Where the browser takes an error to. */
export function redirectWithError(returnTo: ReturnAddress, error: OauthErrorCode, description: string): string {
  return redirect(returnTo, { error, error_description: description });
}

function redirect({ redirectUri, state, issuer }: ReturnAddress, outcome: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(outcome)) url.searchParams.set(name, value);
  if (state !== undefined && state.length <= maxStateLength) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuer);
  return url.href;
}
