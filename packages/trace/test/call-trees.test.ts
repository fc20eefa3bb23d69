import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSpanTree, type Tally, type Way } from './support/check-span-tree.ts';

/** The programs of some seeds in one way, and what they showed together. */
async function checkAll(way: Way, firstSeed: number, count: number): Promise<Tally & { readonly programs: number }> {
  const total = { programs: 0, roots: 0, spans: 0, leftOut: 0, failed: 0, growths: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const tally = await checkSpanTree(seed, way);
    if (tally === undefined) continue;
    total.programs++;
    for (const key of ['roots', 'spans', 'leftOut', 'failed', 'growths'] as const) total[key] += tally[key];
  }
  return total;
}

describe('start() on programs whose calls are known', () => {
  it('gives exactly the spans of 1200 programs that bind() runs, to the nanosecond', async (test) => {
    const { roots, spans, leftOut, failed, growths } = await checkAll('bind', 1, 1_200);
    test.diagnostic(`${roots} roots, ${spans} spans (${failed} failed, ${growths} growths), ${leftOut} calls left out`);
    assert.ok(spans > 100_000 && leftOut > 50_000 && failed > 3_000 && growths > 3_000);
  });

  it('gives exactly the tree of 500 programs that instantiateSync() runs', async (test) => {
    const { spans, failed } = await checkAll('instantiate', 2_001, 500);
    test.diagnostic(`${spans} spans, ${failed} failed`);
    assert.ok(spans > 100_000 && failed > 2_000);
  });

  it('needs no bind() where the host goes on with nothing that lies around a trap', async (test) => {
    const { programs, spans, leftOut, failed } = await checkAll('events', 3_001, 500);
    test.diagnostic(`${programs} of 500 programs, ${spans} spans (${failed} failed), ${leftOut} calls left out`);
    assert.ok(programs > 450 && spans > 50_000 && failed > 500);
  });
});
