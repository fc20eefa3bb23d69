import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { ProviderSettings } from '../../src/config/sign-in-providers.ts';

/** A key of an issuer. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

type Claims = Readonly<Record<string, unknown>>;

/** What the issuer answers to one code. */
export interface Grant {
  readonly claims?: Claims;
  /** Makes the ID token of the claims; by default, one that is signed by the newest key. */
  readonly sign?: (claims: JWTPayload) => Promise<string> | string;
}

/** An issuer that the test controls: it signs every token that the test makes. */
export interface TestIssuer {
  readonly url: string;
  /** The paths that were requested. */
  readonly requests: string[];
  /** The keys that it publishes. */
  keys: SigningKey[];
  /** What `/.well-known/openid-configuration` has in addition. */
  metadata: Claims;
  /** Replaces the answer to a path. */
  readonly answers: Map<string, (response: ServerResponse) => void>;
  /** Plays the user and the authorization endpoint: returns the query of the callback. */
  authorize(redirectTo: string, grant?: Grant): URLSearchParams;
  token(claims: Claims, options?: { readonly key?: SigningKey; readonly typ?: string }): Promise<string>;
  close(): Promise<void>;
}

export const testClientId = 'tenon-test';

export async function makeKey(kid: string = randomUUID()): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}

export async function openIssuer(): Promise<TestIssuer> {
  const grants = new Map<string, { readonly grant: Grant; readonly request: URLSearchParams }>();
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const issuer: TestIssuer & { url: string } = {
    requests: [],
    keys: [await makeKey()],
    metadata: {},
    answers: new Map(),
    url: '',
    authorize(redirectTo, grant = {}) {
      const request = new URL(redirectTo).searchParams;
      const code = randomUUID();
      grants.set(code, { grant, request });
      return new URLSearchParams({ code, state: request.get('state') ?? '', iss: issuer.url });
    },
    token(claims, { key = issuer.keys.at(-1), typ = 'JWT' } = {}) {
      if (key === undefined) throw new Error('The issuer has no key');
      return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: key.kid, typ }).sign(key.privateKey);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  const exchange = async (request: IncomingMessage): Promise<[number, object]> => {
    const form = new URLSearchParams(await text(request));
    const found = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      verifier === found?.request.get('code_challenge') &&
      form.get('redirect_uri') === found.request.get('redirect_uri');
    if (found === undefined || !isRight) return [400, { error: 'invalid_grant' }];
    const { claims = {}, sign = (all) => issuer.token(all) } = found.grant;
    const all = {
      iss: issuer.url,
      aud: testClientId,
      sub: 'ada',
      nonce: found.request.get('nonce') ?? undefined,
      iat: seconds(),
      exp: seconds() + 7200, // longer than tests move the clock
      auth_time: seconds(),
      name: 'Ada',
      email: 'ada@example.org',
      email_verified: true,
      ...claims,
    } as JWTPayload;
    return [200, { access_token: 'opaque', token_type: 'Bearer', id_token: await sign(all) }];
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.requests.push(path);
    const own = issuer.answers.get(path);
    if (own !== undefined) return own(response);
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (path === '/.well-known/openid-configuration') {
      const endpoint = (name: string) => `${issuer.url}/${name}`;
      send(200, {
        issuer: issuer.url,
        authorization_endpoint: endpoint('authorize'),
        token_endpoint: endpoint('token'),
        jwks_uri: endpoint('jwks'),
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        ...issuer.metadata,
      });
    } else if (path === '/jwks') send(200, { keys: issuer.keys.map(({ publicJwk }) => publicJwk) });
    else if (path === '/token')
      exchange(request).then(
        ([status, body]) => send(status, body),
        () => response.destroy(),
      );
    else send(404, {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return issuer;
}

/** The settings of a provider, as the file of the configuration has them. */
export function providerOf(issuer: string, changes: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    id: 'corp',
    label: 'Corp',
    issuer,
    clientId: testClientId,
    clientSecret: undefined,
    scopes: ['openid', 'email', 'profile'],
    emailClaim: 'email',
    nameClaim: 'name',
    verifiesEmails: false,
    linksByEmail: false,
    createsAccounts: true,
    groupClaim: 'groups',
    rules: [],
    prompt: undefined,
    ...changes,
  };
}

/** The claims that make a token a logout token, besides the issuer, the audience, `jti`, and `sub` or `sid`. */
export function logoutClaims() {
  const iat = Math.floor(Date.now() / 1000);
  return { iat, exp: iat + 120, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };
}
