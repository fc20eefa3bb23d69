import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runWithFairnessKey } from '../workers/fairness-key.ts';
import { createFairSemaphore } from './fair-semaphore.ts';
import { UnavailableError } from './store.ts';

describe('createFairSemaphore()', () => {
  it('gives turns in the order in which they were asked for, one at a time', async () => {
    const semaphore = createFairSemaphore();
    const log: number[] = [];
    let taken = 0;
    const takeOne = async (number: number) => {
      await semaphore.acquire(1000);
      assert.equal(++taken, 1);
      log.push(number);
      await nextTurn();
      taken--;
      semaphore.release();
    };
    await Promise.all([1, 2, 3, 4].map(takeOne));
    assert.deepEqual(log, [1, 2, 3, 4]);
  });

  it('gives up on a turn that does not come in time, and passes it over then', async () => {
    const semaphore = createFairSemaphore();
    await semaphore.acquire(1000);
    await assert.rejects(semaphore.acquire(5), UnavailableError);
    const next = semaphore.acquire(1000);
    semaphore.release();
    await next;
    semaphore.release();
  });

  it('lets the event loop turn between two users, even without a queue', async () => {
    const semaphore = createFairSemaphore();
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await semaphore.acquire(1000);
    semaphore.release();
    await semaphore.acquire(1000);
    assert.equal(turned, true);
    semaphore.release();
  });

  it('has callers take turns: one that waits a thousand times delays another one by a single work', async () => {
    const semaphore = createFairSemaphore();
    const log: string[] = [];
    const work = (caller: string) =>
      runWithFairnessKey(caller, async () => {
        await semaphore.acquire(10_000);
        log.push(caller);
        semaphore.release();
      });
    const flood = Array.from({ length: 1000 }, () => work('network'));
    await Promise.all([...flood, work('account'), work('account')]);
    assert.equal(log.length, 1002);
    assert.ok(log.indexOf('account') <= 2, `${log.indexOf('account')}`);
    assert.ok(log.lastIndexOf('account') <= 4, `${log.lastIndexOf('account')}`);
  });

  it('lets as many run at once as it has places', async () => {
    const semaphore = createFairSemaphore(3);
    let running = 0;
    let most = 0;
    const work = async () => {
      await semaphore.acquire(10_000);
      most = Math.max(most, ++running);
      await nextTurn();
      running--;
      semaphore.release();
    };
    await Promise.all(Array.from({ length: 20 }, work));
    assert.equal(most, 3);
  });
});
