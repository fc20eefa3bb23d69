import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { assertDigest } from './digest.ts';

const bytes = new TextEncoder().encode('{"a":1}');
const digest = createHash('sha256').update(bytes).digest('base64');
const fields = (reprDigest: string, more = {}) => new Headers({ 'repr-digest': reprDigest, ...more });

describe('assertDigest()', () => {
  it('accepts a response with its digest, and one without a digest', async () => {
    await assertDigest(new Headers(), bytes);
    await assertDigest(fields(`sha-256=:${digest}:`), bytes);
    await assertDigest(fields(`sha-512=:AAAA:, sha-256=:${digest}:`), bytes);
    await assertDigest(fields('sha-512=:AAAA:'), bytes);
  });

  it('throws `content_mismatch` for all other bytes', async () => {
    for (const others of ['{"a":2}', '', '{"a":1} ']) {
      const wrong = new TextEncoder().encode(others);
      await assert.rejects(assertDigest(fields(`sha-256=:${digest}:`), wrong), { code: 'content_mismatch' });
    }
    await assert.rejects(assertDigest(fields('sha-256=::'), bytes), { code: 'content_mismatch' });
  });

  it('does not check a compressed response', async () => {
    await assertDigest(fields('sha-256=:AAAA:', { 'content-encoding': 'gzip' }), bytes);
  });
});
