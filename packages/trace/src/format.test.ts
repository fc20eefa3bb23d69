import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { axisMarks, formatDuration, formatMark, formatPages, formatShare } from './format.ts';
import { visible } from './unsafe-characters.ts';

describe('formatDuration()', () => {
  for (const [nanoseconds, text] of [
    [0, '0 ns'],
    [412, '412 ns'],
    [999.4, '999 ns'],
    [999.6, '1.00 µs'],
    [3_070, '3.07 µs'],
    [9_996, '10.0 µs'],
    [99_960, '100 µs'],
    [999_499, '999 µs'],
    [999_600, '1.00 ms'],
    [12_800_000, '12.8 ms'],
    [1e9, '1.00 s'],
    [3.6e12, '3,600 s'],
  ] as const) {
    it(`writes ${nanoseconds} as ${text}`, () => assert.equal(formatDuration(nanoseconds), text));
  }
});

describe('axisMarks()', () => {
  it('finds round places, no more than there is room for', () => {
    assert.deepEqual(axisMarks(0, 100, 5), { marks: [0, 20, 40, 60, 80, 100], step: 20 });
    assert.deepEqual(axisMarks(12.3, 13.1, 4).marks, [12.4, 12.600000000000001, 12.8, 13]);
    assert.deepEqual(axisMarks(5, 5, 4).marks, []);
  });

  it('keeps marks apart that stand close together far from zero', () => {
    const { marks, step } = axisMarks(1_234_500_000, 1_234_501_000, 5);
    const texts = marks.map((mark) => formatMark(mark, step));
    assert.equal(new Set(texts).size, texts.length);
    assert.equal(texts[1], '1.2345002 s');
  });

  it('writes no zeros that say nothing', () => {
    const { marks, step } = axisMarks(0, 150_000_000, 8);
    assert.deepEqual(
      marks.slice(0, 3).map((mark) => formatMark(mark, step)),
      ['0', '20 ms', '40 ms'],
    );
  });
});

describe('formatPages()', () => {
  it('writes pages of 64 KiB as a size', () => {
    assert.deepEqual([1, 16, 24, 65_536].map(formatPages), ['64 KiB', '1 MiB', '1.5 MiB', '4 GiB']);
  });
});

describe('formatShare()', () => {
  it('is nothing of nothing', () => {
    assert.deepEqual([formatShare(1, 3), formatShare(0, 0)], ['33.3 %', '0.0 %']);
  });
});

describe('visible()', () => {
  it('shows what would move the cursor or turn the writing round', () => {
    assert.equal(visible('a\u001b[2J\u202eb\u200bc\n'), 'a\\u{1b}[2J\\u{202e}b\\u{200b}c\\u{a}');
  });

  it('leaves scripts of people alone', () => {
    assert.equal(visible('解析 größe שלום'), '解析 größe שלום');
  });
});
