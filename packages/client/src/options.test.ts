import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { type ClientError, type ClientOptions, createClient } from '@tenon/client';

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
