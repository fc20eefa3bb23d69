import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guestKeyFault, isContentAddress, isPluginName } from './names.ts';

describe('guestKeyFault()', () => {
  it('finds nothing wrong with a legal key', () => {
    for (const key of ['a', 'acme/eu/42', 'ünïcode 🦊', 'a%2Fb?c#d\\e', '…', '...', 'x'.repeat(512)]) {
      assert.equal(guestKeyFault(key), undefined, key);
    }
  });

  it('says what is wrong with an illegal one', () => {
    assert.match(guestKeyFault('') ?? '', /empty/);
    assert.match(guestKeyFault('x'.repeat(513)) ?? '', /512 bytes/);
    assert.match(guestKeyFault('é'.repeat(257)) ?? '', /512 bytes/);
    assert.match(guestKeyFault('a\u0000') ?? '', /control/);
    assert.match(guestKeyFault('a\u0085') ?? '', /control/);
    assert.match(guestKeyFault('\ud800') ?? '', /surrogate/);
    for (const key of ['/a', 'a/', 'a//b', '/']) assert.match(guestKeyFault(key) ?? '', /empty segment/, key);
    for (const key of ['.', '..', 'a/./b', '../a', 'a/..']) assert.match(guestKeyFault(key) ?? '', /"\."/, key);
  });
});

describe('isPluginName()', () => {
  it('takes letters, digits, dots, dashes and underscores, a letter or digit first', () => {
    for (const name of ['a', '10', 'constructor', '__proto__'.slice(2), 'A.b-c_d', 'x'.repeat(100)])
      assert.ok(isPluginName(name), name);
    for (const name of ['', '.a', '_a', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(101), 'a\n'])
      assert.ok(!isPluginName(name), name);
  });
});

describe('isContentAddress()', () => {
  it('takes 43 characters of base64url', () => {
    assert.ok(isContentAddress('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'));
    for (const text of [
      '',
      '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
      '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=',
    ]) {
      assert.ok(!isContentAddress(text), text);
    }
  });
});
