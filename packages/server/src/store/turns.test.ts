import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UnavailableError } from '../domain/ports.ts';
import { createTurns } from './turns.ts';

describe('createTurns()', () => {
  it('gives turns in the order in which they were asked for, one at a time', async () => {
    const turns = createTurns();
    const log: number[] = [];
    let taken = 0;
    const takeOne = async (number: number) => {
      await turns.take(1000);
      assert.equal(++taken, 1);
      log.push(number);
      await nextTurn();
      taken--;
      turns.end();
    };
    await Promise.all([1, 2, 3, 4].map(takeOne));
    assert.deepEqual(log, [1, 2, 3, 4]);
  });

  it('gives up on a turn that does not come in time, and passes it over then', async () => {
    const turns = createTurns();
    await turns.take(1000);
    await assert.rejects(turns.take(5), UnavailableError);
    const next = turns.take(1000);
    turns.end();
    await next;
    turns.end();
  });

  it('lets the event loop turn between two users, even without a queue', async () => {
    const turns = createTurns();
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await turns.take(1000);
    turns.end();
    await turns.take(1000);
    assert.equal(turned, true);
    turns.end();
  });
});
