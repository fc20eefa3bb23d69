import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCommonPasswords } from './common-passwords.ts';

describe('createCommonPasswords()', () => {
  const common = createCommonPasswords();

  for (const password of [
    '1234567890',
    'qwertyuiop',
    'password123',
    'iloveyou123',
    'basketball',
    'password',
    'zxcvbnm123',
  ]) {
    it(`knows ${password}`, async () => assert.equal(await common.has(password), true));
  }

  for (const text of ['', 'magnolia tugboat 17', 'qwertyui op', 'password\npassword1', '\n', 'wertyuio']) {
    it(`does not know ${JSON.stringify(text)}`, async () => assert.equal(await common.has(text), false));
  }

  it('fails when its list is missing, instead of accepting every password', async () => {
    const broken = createCommonPasswords(new URL('./no-such-list.br', import.meta.url));
    await assert.rejects(broken.has('password'), { code: 'ENOENT' });
  });
});
