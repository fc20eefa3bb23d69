import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listWindow, scrollToRow } from './list-window.ts';

const isSeen = (size: { rows: number; rowHeight: number; height: number }, scrollTop: number, row: number): boolean => {
  const { first, end, offset } = listWindow(size, scrollTop);
  const from = offset + (row - first) * size.rowHeight;
  // Half a pixel is lost to floating point where a pixel stands for several.
  return row >= first && row < end && from >= scrollTop - 0.5 && from + size.rowHeight <= scrollTop + size.height + 0.5;
};

for (const rows of [1, 9, 200, 222_222, 600_000, 1_000_000]) {
  describe(`listWindow() of ${rows} rows`, () => {
    const size = { rows, rowHeight: 36, height: 400 };

    it('is as high as can be scrolled, and shows both ends', () => {
      const { scrollHeight, first } = listWindow(size, 0);
      assert.ok(scrollHeight <= 8_000_000 && scrollHeight >= Math.min(8_000_000, rows * 36));
      assert.equal(first, 0);
      assert.ok(isSeen(size, 0, 0));
      const bottom = Math.max(0, scrollHeight - size.height);
      assert.ok(isSeen(size, bottom, rows - 1));
      assert.equal(listWindow(size, bottom).end, rows);
    });

    it('draws few rows wherever one is', () => {
      for (let scrollTop = 0; scrollTop < 8_000_000; scrollTop += 123_457) {
        const { first, end } = listWindow(size, scrollTop);
        assert.ok(first >= 0 && end <= rows && end - first <= 26, `${first} to ${end}`);
      }
    });

    it('comes to any row, from anywhere', () => {
      for (const row of [0, 1, Math.floor(rows / 3), Math.floor(rows / 2), rows - 1].filter((at) => at < rows)) {
        for (const from of [0, 3_999_999, 7_999_600]) {
          const start = Math.min(from, Math.max(0, listWindow(size, 0).scrollHeight - size.height));
          assert.ok(isSeen(size, scrollToRow(size, start, row), row), `row ${row} from ${start}`);
        }
      }
    });
  });
}

describe('scrollToRow()', () => {
  it('stays where the row is seen', () => {
    assert.equal(scrollToRow({ rows: 100, rowHeight: 36, height: 400 }, 360, 12), 360);
  });
});
