import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createKeyedMutex } from './keyed-mutex.ts';

describe('createKeyedMutex()', () => {
  it('runs calls with one key one at a time, in order, also after a failure', async () => {
    const mutex = createKeyedMutex();
    const log: string[] = [];
    const work = (name: string, fails = false) =>
      mutex('key', async () => {
        log.push(`${name} begins`);
        await nextTurn();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    const outcomes = await Promise.allSettled([work('a'), work('b', true), work('c')]);
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
  });

  it('runs calls with other keys concurrently', async () => {
    const mutex = createKeyedMutex();
    const held = Promise.withResolvers<void>();
    const first = mutex('a', () => held.promise);
    assert.equal(await mutex('b', async () => 1), 1);
    held.resolve();
    await first;
  });
});
