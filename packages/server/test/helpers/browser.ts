import type { IncomingMessage } from 'node:http';
import { cliClientId, type UserId } from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import { startDeviceGrant } from '../../src/auth/oauth/device-grants.ts';
import { preparePassword } from '../../src/auth/passwords/passwords.ts';
import { startSession } from '../../src/auth/sessions.ts';
import { cookieName } from '../../src/http/cookies.ts';
import type { TestService } from './service.ts';

export const rightPassword = 'four unrelated words';

/** A browser with a session. */
export interface TestBrowser {
  readonly userId: UserId;
  /** The `cookie` field that it sends. */
  readonly cookie: string;
  /** A request of one of our own pages. */
  post(path: string, json: unknown, headers?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
  /** Ends the session from elsewhere. */
  end(): Promise<void>;
}

/** Makes a user sign in; a new one, with {@link rightPassword}, when none is given. */
export async function openBrowser(service: TestService, existing?: UserId): Promise<TestBrowser> {
  const { deps, addresses } = service.services;
  const userId = existing ?? (await userWithPassword(service));
  const address = '127.0.0.1';
  const secrets = { sessionSecret: undefined, browserSecret: undefined };
  const browser = { userAgent: 'a test', address, network: address, ...secrets };
  const { session, sessionSecret } = await deps.store.write((tx) =>
    startSession(deps, tx, userId, browser, { means: 'password' }),
  );
  const cookie = `${cookieName('session', addresses.base())}=${sessionSecret}`;
  return {
    userId,
    cookie,
    post: (path, json, headers = {}) =>
      service.call('POST', path, { json, headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } }),
    end: () => service.store.write((tx) => tx.deleteSession(session.id)),
  };
}

/** A login with a device code that a user has approved, and whose token was not fetched. */
export async function approvedLogin(service: TestService, { id: userId }: { readonly id: UserId }) {
  const { deps } = service.services;
  const client = { id: cliClientId, name: 'tenon' };
  const { grant, deviceCode } = await startDeviceGrant(deps, {
    client,
    scope: 'read',
    deviceName: 'laptop',
    address: '192.0.2.7',
  });
  const browser = {
    userAgent: 'a test',
    address: '::1',
    network: '::1',
    sessionSecret: undefined,
    browserSecret: undefined,
  };
  await service.store.write(async (tx) => {
    const { session } = await startSession(deps, tx, userId, browser, { means: 'password' });
    const approval = { status: 'approved', userId, sessionId: session.id, scopes: ['read'] } as const;
    await tx.decideDeviceGrant(grant.id, approval);
  });
  return { id: grant.id, deviceCode };
}

async function userWithPassword(service: TestService): Promise<UserId> {
  const { deps } = service.services;
  const { id } = await service.user('Ada');
  const hash = await deps.passwords.hash(preparePassword(rightPassword));
  await service.store.write(async (tx) => {
    await tx.setEmail(id, `${id}@tenon.example`);
    await tx.putPassword({ userId: id, hash, updatedAtMs: deps.clock() });
  });
  return id;
}

/** The verifier and challenge of RFC 7636, appendix B. */
export const pkce = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
} as const;

export const redirectUri = 'http://127.0.0.1:51004/callback';

type Parameters = Readonly<Record<string, string | undefined>>;

/** The query of an authorization request, with changes; `undefined` leaves a parameter out. */
export function authorizationQuery(changes: Parameters = {}): string {
  return encode({
    response_type: 'code',
    client_id: cliClientId,
    redirect_uri: redirectUri,
    state: 'a state/of+its own',
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...changes,
  });
}

export function encode(parameters: Parameters): string {
  const present = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(present).toString();
}

/** A form as programs send it to OAuth's endpoints. */
export function postForm(service: TestService, path: string, fields: Parameters | string, headers = {}) {
  const body = typeof fields === 'string' ? fields : encode(fields);
  const contentType = { 'content-type': 'application/x-www-form-urlencoded' };
  return service.call('POST', path, { body, headers: { ...contentType, ...headers } });
}

/** Has an authorization request approved; where the browser goes with that. */
export async function approve(browser: TestBrowser, changes: Parameters = {}, decision: object = {}): Promise<URL> {
  const request = authorizationQuery(changes);
  const response = await browser.post('/session/authorization', { request, decision: 'approve', ...decision });
  if (response.statusCode !== 200) throw new Error(`Not approved: ${response.statusCode} ${response.payload}`);
  return new URL(response.json<{ redirectTo: string }>().redirectTo);
}

/** What a client sends to exchange the code that it got. */
export function exchangeOf(redirectedTo: URL, changes: Parameters = {}): Parameters {
  return {
    grant_type: 'authorization_code',
    client_id: cliClientId,
    code: redirectedTo.searchParams.get('code') ?? undefined,
    redirect_uri: redirectUri,
    code_verifier: pkce.verifier,
    ...changes,
  };
}

/** A request from a network address, for what looks only at that. */
export function requestFrom(remoteAddress: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}
