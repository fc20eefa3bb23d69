import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { visible } from './unsafe-characters.ts';

describe('visible()', () => {
  const unsafe = ['\0', '\u001b', '\n', '\u009b', '\u061c', '\u200b', '\u200d', '\u200f', '\u2028', '\u202e', '\u2060'];
  for (const character of [...unsafe, '\u2066', '\ufeff', '\u00ad', '\u{e0041}']) {
    const code = character.codePointAt(0)?.toString(16);
    it(`escapes U+${code}`, () => assert.equal(visible(`a${character}b`), `a\\u{${code}}b`));
  }

  it('keeps letters, marks, and emoji', () => {
    for (const text of ['é', 'e\u0301', '日本', 'نام', '👩', ' <b>']) assert.equal(visible(text), text);
  });
});
