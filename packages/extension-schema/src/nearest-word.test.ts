import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearestWord } from './nearest-word.ts';

describe('nearestWord()', () => {
  it('finds the nearest word, and the first of equally near ones', () => {
    assert.equal(nearestWord('grete', ['count', 'gret', 'greet', 'great']), 'gret');
    assert.equal(nearestWord('malloc', ['free', 'dlmalloc', 'realloc', 'calloc']), 'calloc');
    assert.equal(nearestWord('reads', ['heads', 'leads']), 'heads');
  });

  it('counts swapped letters as one edit', () => {
    assert.equal(nearestWord('gerte', ['xxrte', 'grete']), 'grete');
    assert.equal(nearestWord('ab', ['ba']), 'ba');
    assert.equal(nearestWord('abc', ['cab']), undefined);
  });

  it('prefers words that differ only in case, _ and -', () => {
    assert.equal(nearestWord('countVowels', ['countVowel', 'count_vowels']), 'count_vowels');
    assert.equal(nearestWord('SPAN-ENTER', ['span_enter']), 'span_enter');
    assert.equal(nearestWord('__', ['--']), undefined);
  });

  it('returns undefined if no word is near', () => {
    assert.equal(nearestWord('greet', ['sprint', 'count', '']), undefined);
    assert.equal(nearestWord('a', ['b', 'ab']), undefined);
    assert.equal(nearestWord('', ['a']), undefined);
    assert.equal(nearestWord('greet', ['greet']), undefined);
    assert.equal(nearestWord('x'.repeat(101), [`${'x'.repeat(100)}y`]), undefined);
    assert.equal(nearestWord('x'.repeat(99), [`${'x'.repeat(100)}y`]), undefined);
  });

  it('allows one edit per three letters, and at most three', () => {
    assert.equal(nearestWord('ab', ['ax']), 'ax');
    assert.equal(nearestWord('abcd', ['axxd']), undefined);
    assert.equal(nearestWord('abcde', ['axxde']), 'axxde');
    assert.equal(nearestWord('abcdefgh', ['axxxefgh']), 'axxxefgh');
    assert.equal(nearestWord('abcdefghijklmno', ['axxxxfghijklmno']), undefined);
  });

  it('limits its work on hostile words', () => {
    const words = Array.from({ length: 200_000 }, () => 'ab'.repeat(49));
    const startMs = performance.now();
    nearestWord(`x${'ab'.repeat(49)}y`, words);
    assert.ok(performance.now() - startMs < 30_000);
  });
});
