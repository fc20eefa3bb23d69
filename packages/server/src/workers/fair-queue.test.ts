import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

const anyCaller = () => true;

function fill(queue: FairQueue<string>, ...items: readonly string[]): void {
  for (const item of items) assert.equal(queue.add(item.slice(0, 1), item), undefined, item);
}

function drain(queue: FairQueue<string>, canTake: (caller: string) => boolean = anyCaller): string[] {
  const items: string[] = [];
  for (let item = queue.take(canTake); item !== undefined; item = queue.take(canTake)) items.push(item);
  return items;
}

describe('createFairQueue()', () => {
  it('serves callers in turn, and each caller in the order of its items', () => {
    const queue = createFairQueue<string>(10);
    fill(queue, 'a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2');
    assert.deepEqual(drain(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
    assert.equal(queue.size, 0);
  });

  it('puts a caller that was just served behind the waiting callers', () => {
    const queue = createFairQueue<string>(10);
    fill(queue, 'a1', 'a2', 'b1');
    assert.equal(queue.take(anyCaller), 'a1');
    fill(queue, 'c1', 'a3');
    assert.deepEqual(drain(queue), ['b1', 'a2', 'c1', 'a3']);
  });

  it('skips callers that cannot be served, and keeps their turn', () => {
    const queue = createFairQueue<string>(10);
    fill(queue, 'a1', 'a2', 'b1', 'b2');
    assert.deepEqual(
      drain(queue, (caller) => caller !== 'a'),
      ['b1', 'b2'],
    );
    fill(queue, 'b3');
    assert.deepEqual(drain(queue), ['a1', 'b3', 'a2']);
  });

  it('when full, displaces the last item of the caller with the most items', () => {
    const queue = createFairQueue<string>(4);
    fill(queue, 'a1', 'a2', 'a3', 'b1');
    assert.deepEqual(queue.add('c', 'c1'), { caller: 'a', item: 'a3' });
    assert.deepEqual(queue.add('d', 'd1'), { caller: 'a', item: 'a2' });
    assert.deepEqual(drain(queue), ['a1', 'b1', 'c1', 'd1']);
  });

  it('when full, rejects the item of a caller that would not have fewer items than the others', () => {
    const queue = createFairQueue<string>(4);
    fill(queue, 'a1', 'a2', 'b1', 'c1');
    assert.deepEqual(queue.add('a', 'a3'), { caller: 'a', item: 'a3' });
    assert.deepEqual(queue.add('b', 'b2'), { caller: 'b', item: 'b2' });
    assert.deepEqual(queue.add('d', 'd1'), { caller: 'a', item: 'a2' });
    assert.deepEqual(queue.add('e', 'e1'), { caller: 'e', item: 'e1' });
    assert.equal(queue.size, 4);
  });

  it('deletes one item, or all', () => {
    const queue = createFairQueue<string>(4);
    fill(queue, 'a1', 'a2', 'b1');
    assert.equal(queue.delete('a', 'a1'), true);
    assert.equal(queue.delete('a', 'a1'), false);
    assert.equal(queue.size, 2);
    assert.deepEqual(queue.clear(), ['a2', 'b1']);
    assert.equal(queue.size, 0);
    assert.equal(queue.take(anyCaller), undefined);
  });
});
