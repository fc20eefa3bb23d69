import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runWithFairnessKey } from '../workers/fairness-key.ts';
import { createFairSemaphore } from './fair-semaphore.ts';
import { UnavailableError } from './store.ts';

describe('createFairSemaphore()', () => {
  it('is acquired in the order of the calls, by one caller at a time', async () => {
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

  it('rejects a waiter after its time-out, and skips it later', async () => {
    const semaphore = createFairSemaphore();
    await semaphore.acquire(1000);
    await assert.rejects(semaphore.acquire(5), UnavailableError);
    const next = semaphore.acquire(1000);
    semaphore.release();
    await next;
    semaphore.release();
  });

  it('yields to the event loop between two holders, even without a queue', async () => {
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

  it('alternates between callers: a thousand waiters of one caller delay another by one', async () => {
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

  it('has as many concurrent holders as permits', async () => {
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
