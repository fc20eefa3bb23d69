import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findSimilarNames, maxSimilarNames } from './similar-names.ts';

const isSimilar = (a: string, b: string): boolean => findSimilarNames(a, [{ name: b }]).length === 1;

describe('findSimilarNames()', () => {
  for (const [a, b, why] of [
    ['Median', 'median', 'another case'],
    ['date-picker', 'datepicker', 'no separator'],
    ['date-picker', 'date_picker', 'another separator'],
    ['date.picker', 'DatePicker', 'another separator and case'],
    ['go', 'g0', 'a zero for an o'],
    ['list', '1ist', 'a one for an l'],
    ['list', 'llst', 'an l for an i'],
    ['form', 'fonn', 'rn looks like m, and nn does not'],
    ['modern', 'modem', 'rn for m'],
    ['wave', 'vvave', 'vv for w'],
    ['median', 'medians', 'an insertion'],
    ['median', 'edian', 'a deletion at the start'],
    ['median', 'media', 'a deletion at the end'],
    ['median', 'mediun', 'a replacement'],
    ['median', 'medain', 'a swap'],
    ['median', 'mdeian', 'a swap at the start'],
    ['report-1', 'report-l', 'a digit for a letter'],
    ['median1', 'median', 'an added digit'],
  ] as const) {
    const expected = b !== 'fonn';
    it(`${expected ? 'finds' : 'does not find'} ${b} for ${a}: ${why}`, () => {
      assert.equal(isSimilar(a, b), expected);
      assert.equal(isSimilar(b, a), expected);
    });
  }

  for (const [a, b, why] of [
    ['median', 'median', 'the same name under another guest'],
    ['sum', 'sun', 'short names with an edit'],
    ['mean', 'meant', 'an edit to a short name'],
    ['median', 'medianxy', 'two insertions'],
    ['median', 'mnedia', 'two edits'],
    ['abcdef', 'badcef', 'two swaps'],
    ['report-1', 'report-2', 'another digit'],
    ['report-2024', 'report_2025', 'another digit and separator'],
    ['median', 'variance', 'another word'],
  ] as const) {
    it(`does not find ${b} for ${a}: ${why}`, () => {
      assert.equal(isSimilar(a, b), false);
      assert.equal(isSimilar(b, a), false);
    });
  }

  it('returns names that look the same first, and a limited number', () => {
    const others = ['mediam', 'medianx', 'xmedian', 'medan', 'mdian', 'edian', 'Med-ian', 'MEDIAN'];
    const found = findSimilarNames(
      'median',
      others.map((name) => ({ name })),
    );
    assert.deepEqual(
      found.map(({ name }) => name),
      ['Med-ian', 'MEDIAN', 'mediam', 'medianx', 'xmedian'],
    );
    assert.equal(found.length, maxSimilarNames);
  });

  it('compares 10,000 names of the maximum length in bounded time', () => {
    const others = Array.from({ length: 10_000 }, (_, at) => ({ name: `${'a'.repeat(94)}${at}`.padEnd(100, 'b') }));
    const startedAtMs = performance.now();
    findSimilarNames('a'.repeat(100), others);
    assert.ok(performance.now() - startedAtMs < 2000);
  });
});
