import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FunctionDescription, Note } from '@tenon/instrument';
import { formatFunctions, formatReport, shownNotes } from './instrument-report.ts';
import { createStyle } from './text.ts';

const described = (index: number, more: Partial<FunctionDescription> = {}): FunctionDescription => ({
  index,
  name: `func[${index}]`,
  nameSource: 'none',
  exportNames: [],
  bodyBytes: 10,
  isTraced: true,
  ...more,
});

describe('formatReport()', () => {
  it('tells by how much the module grew, and no growth that rounds to nothing', () => {
    const changeOf = (inputBytes: number, outputBytes: number) => {
      const counts = { tracedFunctions: 0, totalFunctions: 0, addedImports: [], notes: [] };
      return /\((.+) %\)/.exec(formatReport('', { ...counts, inputBytes, outputBytes }, 1))?.[1];
    };
    assert.equal(changeOf(100_000, 101_100), '+1.1');
    assert.equal(changeOf(100_000, 97_000), '-3.0');
    assert.equal(changeOf(100_000, 99_999), '0.0');
    assert.equal(changeOf(8, 4_000), '+49,900.0');
  });
});

describe('formatFunctions()', () => {
  const show = (functions: readonly FunctionDescription[]) =>
    [...formatFunctions(functions, createStyle(false))].join('');

  it('aligns what has a width, and lets names be as long as they are', () => {
    const text = show([
      described(0, { name: 'a'.repeat(200), nameSource: 'name-section', bodyBytes: 1_234_567 }),
      described(1, { isTraced: false }),
    ]);
    assert.equal(
      text,
      `index    bytes  traced  name\n    0  1234567  yes     ${'a'.repeat(200)}\n    1       10  no      func[1]\n`,
    );
  });

  it('shows names that would play tricks on a terminal as escapes', () => {
    const name = '\u001b[2J';
    const text = show([described(0, { name, nameSource: 'export', exportNames: [name, '\u202ex'] })]);
    assert.match(text, /\\u\{1b\}\[2J {2}\(exported as \\u\{202e\}x\)/);
  });

  it('takes as many functions as a module can have', () => {
    const lines = show(Array.from({ length: 300_000 }, (_, index) => described(index))).split('\n');
    assert.equal(lines.length, 300_002);
    assert.equal(lines[300_000], '299999      10  yes     func[299999]');
  });
});

describe('shownNotes()', () => {
  const notes = (length: number) =>
    Array.from({ length }, (_, at): Note => ({ code: 'import_not_traced', message: `note ${at}`, name: 'x' }));

  it('shows a dozen, and counts the rest', () => {
    assert.equal(shownNotes(notes(12)).at(-1), 'note 11');
    const many = shownNotes(notes(1_000));
    assert.equal(many.length, 12);
    assert.equal(many.at(-1), '989 more; --json has them all');
  });
});
