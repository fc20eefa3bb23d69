import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { isSecret, makeSecret } from './secrets.ts';

describe('makeSecret()', () => {
  it('ends with the CRC-32 of the rest in base62', () => {
    const secret = makeSecret('accessToken', randomBytes(20));
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const checksum = [...secret.slice(-6)].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0);
    assert.equal(checksum, crc32(secret.slice(0, -6)));
  });

  it('has the same length for all bytes', () => {
    assert.equal(makeSecret('apiKey', new Uint8Array(20)).length, 37);
    assert.equal(makeSecret('apiKey', new Uint8Array(20).fill(255)).length, 37);
  });

  it('rejects another number of bytes', () => {
    assert.throws(() => makeSecret('apiKey', new Uint8Array(16)), /needs 20 random bytes \(got 16\)/);
  });
});

describe('isSecret()', () => {
  it('accepts a secret of makeSecret(), but only of the same kind', () => {
    const secret = makeSecret('accessToken', randomBytes(20));
    assert.ok(isSecret('accessToken', secret));
    assert.ok(!isSecret('apiKey', secret));
  });

  it('rejects every single mistyped character', () => {
    const secret = makeSecret('apiKey', randomBytes(20));
    for (let at = 0; at < secret.length; at++) {
      const typo = secret[at] === 'a' ? 'b' : 'a';
      assert.ok(!isSecret('apiKey', secret.slice(0, at) + typo + secret.slice(at + 1)), `at ${at}`);
    }
  });

  it('rejects truncated, longer and empty texts', () => {
    const secret = makeSecret('apiKey', randomBytes(20));
    for (const text of ['', 'tnk_', secret.slice(0, -1), `${secret}a`, ` ${secret}`])
      assert.ok(!isSecret('apiKey', text));
  });
});
