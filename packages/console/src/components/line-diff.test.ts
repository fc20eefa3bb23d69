import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffLines } from './line-diff.ts';

const marks = { same: ' ', removed: '-', added: '+', gap: '…' } as const;
const shown = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => marks[kind] + text);

describe('diffLines()', () => {
  it('shows changed lines with a little context', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].join('\n');
    assert.deepEqual(shown(before, before.replace('d', 'D')), ['…', ' b', ' c', '-d', '+D', ' e', ' f', '…']);
    assert.deepEqual(shown('a\nb', 'a\nx\nb\ny'), [' a', '+x', ' b', '+y']);
    assert.deepEqual(shown('a\nb\nc', 'a\nc'), [' a', '-b', ' c']);
  });

  it('shows nothing but a gap of equal texts', () => {
    assert.deepEqual(shown('a\nb', 'a\nb'), ['…']);
  });

  it('shows large rewrites whole, in little time', () => {
    const lines = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join('\n');
    assert.equal(shown(lines('a'), lines('b')).length, 10_000);
  });
});
