import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { type ClientError, type ClientOptions, createClient } from '@tenon/client';

const pem = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`;
const good = { baseUrl: 'https://plugins.example', token: 'tnn_secret' };

describe('createClient()', () => {
  it('names the invalid option, and never the token', () => {
    const wrong: [option: string, options: Record<string, unknown>][] = [
      ['baseUrl', { baseUrl: 'plugins.example' }],
      ['baseUrl', { baseUrl: undefined }],
      ['baseUrl', { baseUrl: 'ftp://plugins.example' }],
      ['baseUrl', { baseUrl: 'https://me:tnn_secret@plugins.example' }],
      ['baseUrl', { baseUrl: 'https://plugins.example?x=y' }],
      ['token', { token: '' }],
      ['token', { token: 'tnn_secret\n' }],
      ['token', { token: undefined }],
      ['cachePartition', { token: () => 'tnn_secret', store: {} }],
      ['cachePartition', { cachePartition: '' }],
      ['maxAgeMs', { maxAgeMs: -1 }],
      ['maxAgeMs', { maxAgeMs: Number.NaN }],
      ['staleIfErrorMs', { staleIfErrorMs: '5' }],
      ['revalidateTimeoutMs', { revalidateTimeoutMs: null }],
      ['staleOnUnauthorized', { staleOnUnauthorized: 'throw' }],
      ['timeouts.headersMs', { timeouts: { headersMs: -1 } }],
      ['retry.maxRetries', { retry: { maxRetries: '3' } }],
      ['memory.maxContentBytes', { memory: { maxContentBytes: -5 } }],
      ['limits.maxListBytes', { limits: { maxListBytes: {} } }],
      ['verify', { verify: 'always' }],
      ['verify', { verify: true }],
      ['trustedKeys', { verify: 'warn' }],
      ['trustedKeys', { verify: 'require', trustedKeys: [] }],
      ['trustedKeys', { trustedKeys: pem }],
      ['trustedKeys', { trustedKeys: Array(65).fill(pem) }],
      ['trustedKeys[0]', { trustedKeys: [pem.slice(0, -40)] }],
      ['trustedKeys[0]', { trustedKeys: [pem.replace('MCow', 'MCox')] }],
      ['trustedKeys[1]', { trustedKeys: [pem, 7] }],
      ['trustedKeys[0].publicKey', { trustedKeys: [{ keyId: '0'.repeat(64) }] }],
      ['trustedKeys[0].keyId', { trustedKeys: [{ publicKey: pem, keyId: 'A' }] }],
      ['trustedKeys[0].algorithm', { trustedKeys: [{ publicKey: pem, algorithm: 'rsa' }] }],
      ['trustedKeys[0].validFrom', { trustedKeys: [{ publicKey: pem, validFrom: 'now' }] }],
      ['trustedKeys[0].validUntil', { trustedKeys: [{ publicKey: pem, validUntil: '2026-13-01T00:00:00Z' }] }],
      ['maxAge', { maxAge: 3 }],
      ['retry.attempts', { retry: { attempts: 3 } }],
      ['streaming.silenceMs', { streaming: { silenceMs: 3 } }],
    ];
    for (const [option, options] of wrong) {
      assert.throws(
        () => createClient({ ...good, ...options } as ClientOptions),
        (error: ClientError) => {
          assert.equal(error.code, 'invalid_option');
          assert.equal(error.option, option);
          assert.ok(error.message.includes(`\`${option}\``));
          assert.doesNotMatch(inspect(error, { showHidden: true, depth: 10 }), /secret/);
          return true;
        },
      );
    }
  });

  it('accepts keys in PEM and as the server lists them', () => {
    const listed = { publicKey: pem, validFrom: '2026-01-01T00:00:00Z', validUntil: null };
    createClient({ ...good, verify: 'require', trustedKeys: [pem, pem.replaceAll('\n', '\r\n'), listed] });
  });

  it('accepts `Infinity` as a time', async () => {
    const client = createClient({
      ...good,
      timeouts: { headersMs: Number.POSITIVE_INFINITY, idleMs: 1e12, totalMs: Number.POSITIVE_INFINITY },
      fetch: async () => new Response('{}'),
      streaming: false,
    });
    assert.deepEqual({ ...(await client.getBindings({ extensionPointId: 'ext_1', guestKey: 'x' })).bindings }, {});
    await client.close();
  });
});
