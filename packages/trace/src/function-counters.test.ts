import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moduleOf, observe } from '../test/support/observed.ts';
import type { TraceOptions } from './options.ts';

const named = moduleOf('(module (func $a) (func $b) (func $c))');

function counted(options: TraceOptions = {}) {
  const observed = observe(named, { statistics: true, spanFilter: { minDurationMicroseconds: 20 }, ...options });
  const hooks = observed.context.imports['dylibso:observe/instrument'] as Record<string, (value: number) => void>;
  const find = (name: string) =>
    observed.context.statistics().functions.find(({ function: { name: found } }) => found === name);
  return {
    ...observed,
    enter: hooks.enter ?? (() => {}),
    exit: hooks.exit ?? (() => {}),
    grow: hooks['memory-grow'],
    find,
  };
}

describe('statistics()', () => {
  it('counts folded calls as well as those with spans', () => {
    const { enter, exit, grow, clock, find } = counted();
    enter(0);
    for (const ns of [90, 100, 30_000]) {
      enter(1);
      clock.moveNs(ns);
      exit(1);
    }
    grow?.(2);
    clock.moveNs(10);
    exit(0);
    assert.deepEqual(find('b'), {
      function: { index: 1, rawName: 'b', name: 'b' },
      calls: 3,
      untimedCalls: 0,
      failures: 0,
      totalTimeNano: 30_190n,
      selfTimeNano: 30_190n,
      maxTimeNano: 30_000n,
      grownPages: 0,
    });
    assert.deepEqual([find('a')?.selfTimeNano, find('a')?.totalTimeNano, find('a')?.grownPages], [10n, 30_200n, 2]);
  });

  it('counts the time of calls within calls of the same function once', () => {
    const { enter, exit, clock, find } = counted();
    for (const func of [0, 1, 0]) {
      enter(func);
      clock.moveNs(100);
    }
    for (const func of [0, 1, 0]) exit(func);
    assert.deepEqual([find('a')?.calls, find('a')?.totalTimeNano, find('a')?.selfTimeNano], [2, 300n, 200n]);
    assert.deepEqual([find('b')?.calls, find('b')?.totalTimeNano, find('b')?.selfTimeNano], [1, 200n, 100n]);
  });

  it('counts failures, and goes on rightly after them', () => {
    const { context, enter, exit, clock, find } = counted();
    for (let round = 0; round < 2; round++) {
      assert.throws(() =>
        context.run(() => {
          enter(0);
          enter(0);
          clock.moveNs(50);
          throw new Error();
        }),
      );
    }
    enter(0);
    exit(0);
    assert.deepEqual([find('a')?.calls, find('a')?.failures, find('a')?.totalTimeNano], [5, 4, 100n]);
  });

  it('takes indices that no module has', () => {
    const { enter, exit, context } = counted();
    for (const index of [-1, 2 ** 31, 999_999, 1_000_000]) {
      enter(index);
      exit(index);
    }
    const { functions, dropped } = context.statistics();
    assert.deepEqual(
      functions.map(({ function: { index }, calls }) => [index, calls]),
      [[999_999, 1]],
    );
    assert.equal(dropped.functions, 3);
  });

  it('has so many functions and no more, and says how many calls that leaves out', () => {
    const { enter, exit, context, clock } = counted({ limits: { functions: 2 } });
    for (const index of [5, 3, 5, 9, 4, 3, 9]) {
      enter(index);
      clock.moveNs(100);
      exit(index);
    }
    const { functions, dropped } = context.statistics();
    assert.deepEqual(
      functions.map(({ function: { index }, calls, totalTimeNano }) => [index, calls, totalTimeNano]),
      [
        [3, 2, 200n],
        [5, 2, 200n],
      ],
    );
    assert.equal(dropped.functions, 3);
  });

  it('takes little room for a module that says it has a million functions', () => {
    const { enter, exit, context } = counted();
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 1_000_000; index++) {
      enter(index);
      exit(index);
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 150_000_000);
    const { functions, dropped } = context.statistics();
    assert.equal(functions.length, 100_000);
    assert.equal(dropped.functions, 900_000);
  });

  it('has no functions unless they are asked for', () => {
    assert.deepEqual(observe(named).context.statistics().functions, []);
  });
});
