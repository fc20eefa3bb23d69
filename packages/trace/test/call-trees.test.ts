import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSpanTree, type Tally, type Way } from './support/check-span-tree.ts';

/** The programs of some seeds in one way, and what they showed together. */
function checkAll(way: Way, firstSeed: number, count: number): Tally & { readonly programs: number } {
  const total = { programs: 0, roots: 0, spans: 0, leftOut: 0, failed: 0, growths: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const tally = checkSpanTree(seed, way);
    if (tally === undefined) continue;
    total.programs++;
    for (const key of ['roots', 'spans', 'leftOut', 'failed', 'growths'] as const) total[key] += tally[key];
  }
  return total;
}

describe('start() on programs whose calls are known', () => {
  it('gives exactly the spans of 2000 programs that bind() runs, to the nanosecond', (test) => {
    const { roots, spans, leftOut, failed, growths } = checkAll('bind', 1, 2_000);
    test.diagnostic(`${roots} roots, ${spans} spans (${failed} failed, ${growths} growths), ${leftOut} calls left out`);
    assert.ok(spans > 100_000 && leftOut > 50_000 && failed > 5_000 && growths > 5_000);
  });

  it('gives exactly the tree of 1000 programs that instantiateSync() runs', (test) => {
    const { spans, failed } = checkAll('instantiate', 2_001, 1_000);
    test.diagnostic(`${spans} spans, ${failed} failed`);
    assert.ok(spans > 100_000 && failed > 5_000);
  });

  it('needs no bind() for programs whose every call ends within the module', (test) => {
    const { programs, spans, leftOut } = checkAll('events', 3_001, 1_000);
    test.diagnostic(`${programs} of 1000 programs, ${spans} spans, ${leftOut} calls left out`);
    assert.ok(programs > 500 && spans > 50_000);
  });
});
