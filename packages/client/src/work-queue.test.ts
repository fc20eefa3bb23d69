import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWorkQueue } from './work-queue.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose work ends when the test says so. */
function openQueue(concurrency: number) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const queue = createWorkQueue<string>(
    concurrency,
    (item) => item,
    (item) =>
      new Promise((resolve) => {
        begun.push(item);
        ends.push(resolve);
      }),
  );
  const end = (at: number) => {
    ends[at]?.();
    return settle();
  };
  return { queue, begun, end };
}

describe('createWorkQueue()', () => {
  it('works on items in order with limited concurrency, and on each waiting item once', async () => {
    const { queue, begun, end } = openQueue(2);
    for (const item of ['a', 'b', 'c', 'd', 'c']) queue.add(item);
    assert.deepEqual(begun, ['a', 'b']);
    await end(1);
    assert.deepEqual(begun, ['a', 'b', 'c']);
    queue.add('c'); // already running, so it runs again
    await end(0);
    await end(2);
    assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'c']);
    await end(3);
    await end(4);
    queue.add('e');
    assert.equal(begun.at(-1), 'e');
  });

  it('starts no waiting item after `clear()`', async () => {
    const { queue, begun, end } = openQueue(1);
    for (const item of ['a', 'b', 'c']) queue.add(item);
    queue.clear();
    await end(0);
    assert.deepEqual(begun, ['a']);
    queue.add('d');
    assert.deepEqual(begun, ['a', 'd']);
  });
});
