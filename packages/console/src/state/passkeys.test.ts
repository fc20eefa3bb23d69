import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wordsOf } from './passkeys.ts';

describe('wordsOf()', () => {
  it('tells apart a cancelled request, a present passkey, and a browser without passkeys', () => {
    const words = ['NotAllowedError', 'InvalidStateError', 'SecurityError', 'ConstraintError', 'TypeError'].map(
      wordsOf,
    );
    assert.equal(new Set(words).size, words.length);
    assert.match(wordsOf('NotAllowedError'), /cancelled, or it took too long/);
  });
});
