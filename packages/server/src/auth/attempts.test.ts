import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { createRateLimiter } from '../http/limits/rate-limiter.ts';
import { type AttemptLimit, checkPassword } from './attempts.ts';

describe('checkPassword()', () => {
  const limiter = (burst: number) => createRateLimiter(1 / 60, burst, () => 0);
  const wrong = async () => false;

  it('counts wrong passwords, and rejects an attempt above the limit before it runs', async () => {
    const counts = [{ limiter: limiter(2), key: 'a' }];
    assert.equal(await checkPassword(counts, wrong), false);
    assert.equal(await checkPassword(counts, wrong), false);
    const isRight = () => assert.fail('it is carried out');
    await assert.rejects(
      checkPassword(counts, isRight),
      (error) => error instanceof TooManyAttemptsError && error.retryAfterSeconds === 60,
    );
  });

  it('counts neither correct passwords nor attempts that fail', async () => {
    const counts = [{ limiter: limiter(1), key: 'a' }];
    for (let round = 0; round < 5; round++) {
      assert.equal(await checkPassword(counts, async () => true), true);
      await assert.rejects(
        checkPassword(counts, () => Promise.reject(new Error('busy'))),
        /busy/,
      );
    }
    assert.equal(await checkPassword(counts, wrong), false);
  });

  it('counts only correct passwords if the limit says so, also in parallel', async () => {
    const count: AttemptLimit = { limiter: limiter(3), key: 'a', counts: 'right' };
    for (let round = 0; round < 5; round++) assert.equal(await checkPassword([count], wrong), false);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => checkPassword([count], async () => true)),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3);
    await assert.rejects(checkPassword([count], wrong), TooManyAttemptsError);
  });

  it('counts parallel attempts', async () => {
    const counts = [{ limiter: limiter(3), key: 'a' }];
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => checkPassword(counts, wrong)));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3);
  });

  it('counts against no limit if one limit rejects the attempt', async () => {
    const narrow = { limiter: limiter(1), key: 'account' };
    const wide = { limiter: limiter(2), key: 'address' };
    await checkPassword([wide, narrow], wrong);
    for (let round = 0; round < 5; round++)
      await assert.rejects(checkPassword([wide, narrow], wrong), TooManyAttemptsError);
    assert.equal(wide.limiter.take('address'), 0);
    assert.ok(wide.limiter.take('address') > 0, 'one wrong guess was counted, and no more');
  });
});
