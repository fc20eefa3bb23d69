import assert from 'node:assert/strict';
import type { Page } from '../../../src/db/store.ts';

/**
 * Holds a list against its pages: sorted by cursor in code-unit order, and the same whether it is asked for whole or in
 * pages of any length.
 *
 * @returns the list
 */
export async function assertPages<T>(list: (page: Page) => Promise<T[]>, cursorOf: (item: T) => string): Promise<T[]> {
  const whole = await list({});
  assert.ok(whole.length >= 2, 'there is something to turn pages in');
  const cursors = whole.map(cursorOf);
  assert.deepEqual(cursors, [...cursors].sort(), 'sorted by code unit');
  for (const limit of [1, 2, whole.length, whole.length + 1]) {
    assert.deepEqual(await turnPages(list, cursorOf, limit), whole, `pages of ${limit}`);
  }
  assert.deepEqual(await list({ after: cursors[0] }), whole.slice(1), 'after without limit');
  assert.deepEqual((await list({ before: cursors.at(-1) })).toReversed(), whole.slice(0, -1), 'before without limit');
  assert.deepEqual(await list({ before: cursors.at(-1), limit: 1 }), whole.slice(-2, -1), 'the one before');
  return whole;
}

async function turnPages<T>(list: (page: Page) => Promise<T[]>, cursorOf: (item: T) => string, limit: number) {
  const items: T[] = [];
  for (let after: string | undefined; ; ) {
    const page = await list({ after, limit });
    assert.ok(page.length <= limit, `a page of at most ${limit}`);
    items.push(...page);
    const last = page.at(-1);
    if (last === undefined) return items;
    after = cursorOf(last);
  }
}
