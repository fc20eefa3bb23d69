import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizeEmail, parseEmail } from './emails.ts';

describe('normalizeEmail()', () => {
  it('maps different spellings to one address', () => {
    assert.equal(normalizeEmail(' Ada@Example.ORG\t'), 'ada@example.org');
    assert.equal(normalizeEmail('jose\u0301@example.org'), 'jos\u00e9@example.org');
  });
});

describe('parseEmail()', () => {
  for (const text of [
    'a@b',
    'ada+x@sub.example.org',
    "o'neill@example.org",
    '山@例え.jp',
    `${'a'.repeat(248)}@b.org`,
  ]) {
    it(`accepts ${text.slice(0, 30)}`, () => assert.equal(parseEmail(text), text));
  }
  for (const text of ['', 'ada', '@example.org', 'ada@', 'a@b@c', 'a b@c', 'a\u0000@b', `${'a'.repeat(250)}@b.org`]) {
    it(`rejects ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.throws(() => parseEmail(text), { code: 'invalid_field' });
    });
  }
});
