import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCommonPasswords } from './common-passwords.ts';
import { weaknessOf } from './password-policy.ts';

const owner = { email: 'ada.lovelace@example.org', name: 'Ada King' };
const common = createCommonPasswords();

describe('weaknessOf()', () => {
  const refused: readonly [string, RegExp][] = [
    ['short 9ch', /at least 10/],
    ['\u{1f511}'.repeat(9), /at least 10/],
    ['ab'.repeat(200), /at most 256/],
    ['aaaaaaaaaaaaaaaa', /repeats itself/],
    ['1234567890123', /repeats itself|commonly/],
    ['abcdefghijklmnop', /counts up/],
    ['0987654321', /repeats itself|commonly/],
    ['qwertyuiop', /is common or was leaked/],
    ['QWERTYUIOP', /is common or was leaked/],
    ['Password123', /is common or was leaked/],
    ['P@ssw0rd123!', /is common or was leaked/],
    ['!!basketball!!', /is common or was leaked/],
    ['Football2024!', /is common or was leaked/],
    ['ada.lovelace@example.org', /your e-mail/],
    ['adalovelace1815', /your e-mail/],
    ['AdaLovelace!!', /your e-mail/],
    ['Ada King 1815', /your name/],
    ['tenon-tenon-1', /this service/],
  ];
  for (const [password, reason] of refused) {
    it(`rejects ${JSON.stringify(password.slice(0, 30))}`, async () => {
      assert.match((await weaknessOf(password, owner, common)) ?? '', reason);
    });
  }

  const taken = [
    'magnolia tugboat 17',
    'correct horse battery staple',
    'ada ate nine blue tugboats',
    'tjV9-pQ2x-7Lmz',
    'h7#Kq9!vRz',
    'пароль из пяти слов',
    '\u{1f511}\u{1f34e}\u{1f680}\u{1f308}\u{1f9ca}\u{1f9e0}\u{1f3bb}\u{1f418}\u{1f6f6}\u{1f33b}',
    'x7'.padEnd(256, 'magnolia tugboat '),
  ];
  for (const password of taken) {
    it(`accepts ${JSON.stringify(password.slice(0, 30))}`, async () => {
      assert.equal(await weaknessOf(password, owner, common), undefined);
    });
  }
});
