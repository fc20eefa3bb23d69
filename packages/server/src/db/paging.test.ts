import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxRelatedRows, type RelatedRows, readRelatedRows } from './paging.ts';

interface Item {
  readonly key: string;
  readonly rows: number;
}

interface Row {
  readonly of: string;
}

/** Returns rows as a store does: ordered by key, with a limit. */
function rowsOf(isDescending?: true): RelatedRows<Item, Row> {
  return {
    cursorOf: ({ key }) => `after ${key}`,
    keyOf: ({ key }) => key,
    keyOfRow: (row) => row.of,
    load: async (items, limit) => {
      const sorted = items.toSorted((a, b) => (a.key < b.key === (isDescending === undefined) ? -1 : 1));
      return sorted.flatMap(({ key, rows }) => Array.from({ length: rows }, () => ({ of: key }))).slice(0, limit);
    },
    ...(isDescending && { isDescending }),
  };
}

const half = maxRelatedRows / 2;

describe('readRelatedRows()', () => {
  const page = (items: readonly Item[]) => ({ items, next: 'after all' });
  const summary = async (items: readonly Item[], isDescending?: true) => {
    const found = await readRelatedRows(page(items), rowsOf(isDescending));
    for (const { key, rows } of found.items) {
      assert.equal(found.rows.get(key)?.length ?? 0, Math.min(rows, maxRelatedRows), `${key} is whole`);
      assert.equal(found.hasMoreRows, rows > maxRelatedRows);
    }
    return [found.items.map(({ key }) => key).join(''), found.next];
  };

  it('keeps a page whose entries have the maximum number of rows', async () => {
    const items = [
      { key: 'a', rows: half },
      { key: 'b', rows: 0 },
      { key: 'c', rows: half },
    ];
    assert.deepEqual(await summary(items), ['abc', 'after all']);
    assert.deepEqual(await summary([]), ['', 'after all']);
  });

  it('ends a page before the entry that exceeds the maximum, but after at least one entry', async () => {
    const items = [
      { key: 'a', rows: half },
      { key: 'b', rows: 0 },
      { key: 'c', rows: half + 1 },
      { key: 'd', rows: 1 },
    ];
    assert.deepEqual(await summary(items), ['ab', 'after b']);
    assert.deepEqual(await summary(items.slice(2)), ['cd', 'after all']);
    assert.deepEqual(
      await summary([
        { key: 'a', rows: maxRelatedRows + 5 },
        { key: 'b', rows: 1 },
      ]),
      ['a', 'after a'],
    );
  });

  it('cuts off the rows of a single entry with too many rows', async () => {
    assert.deepEqual(await summary([{ key: 'a', rows: maxRelatedRows + 1 }]), ['a', 'after all']);
    assert.deepEqual(await summary([{ key: 'a', rows: maxRelatedRows }]), ['a', 'after all']);
  });

  it('does the same for a descending list', async () => {
    const items = [
      { key: 'd', rows: 1 },
      { key: 'c', rows: half },
      { key: 'b', rows: half },
      { key: 'a', rows: 0 },
    ];
    assert.deepEqual(await summary(items, true), ['dc', 'after c']);
  });

  it('omits an entry in the wrong order, so that none is shown without its rows', async () => {
    const items = [
      { key: 'c', rows: 1 },
      { key: 'a', rows: half },
      { key: 'b', rows: half + 1 },
    ];
    assert.deepEqual(await summary(items), ['c', 'after c']);
  });
});
