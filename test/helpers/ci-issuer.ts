import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** An issuer of identity tokens that a test controls in every detail. */
export interface CiIssuer {
  readonly url: string;
  readonly publicKey: CryptoKey;
  /** How often the keys were requested. */
  readonly requests: () => number;
  /** Signs claims, by default with the published key; those of `jobClaims()` are added. */
  sign(claims?: Record<string, unknown>, header?: { alg?: string; kid?: string }, key?: CryptoKey): Promise<string>;
  /** Replaces the key. */
  rotate(): Promise<void>;
  /** Replaces what it answers. `undefined` restores it. */
  answerWith(listener: RequestListener | undefined): void;
  close(): Promise<void>;
}

export async function openCiIssuer(audience: () => string, alg = 'ES256'): Promise<CiIssuer> {
  let keys = await generateKeyPair(alg, { extractable: true });
  let kid = 'key-1';
  let jwks: { keys: JWK[] } = { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg }] };
  let replaced: RequestListener | undefined;
  let requests = 0;
  const server = createServer((request, response) => {
    if (replaced !== undefined) return replaced(request, response);
    if (request.url === '/jwks') requests++;
    const isDiscovery = request.url === '/.well-known/openid-configuration';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isDiscovery ? { issuer: url, jwks_uri: `${url}/jwks` } : jwks));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    get publicKey() {
      return keys.publicKey;
    },
    requests: () => requests,
    sign(claims = {}, header = {}, key = keys.privateKey) {
      const nowSeconds = Math.floor(Date.now() / 1000);
      const defaults = { iss: url, aud: audience(), iat: nowSeconds, exp: nowSeconds + 300, jti: randomUUID() };
      return new SignJWT({ ...defaults, ...jobClaims, ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(key);
    },
    async rotate() {
      keys = await generateKeyPair(alg, { extractable: true });
      kid = `${kid}+`;
      jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg }] };
    },
    answerWith(listener) {
      replaced = listener;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The claims of a job of GitHub Actions. */
export const jobClaims = {
  sub: 'repo:octo/median:environment:release',
  repository: 'octo/median',
  repository_id: '4711',
  environment: 'release',
  ref: 'refs/heads/main',
  sha: 'd6fd1d0c4a1e2f5b1f0c9e7a3b2d4c6e8f0a1b2c',
  run_id: '99',
};
