import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import { checkSpanTree, type Tally, type Way } from './support/check-span-tree.ts';

/** The programs of some seeds in one way, and what they showed together. */
async function checkAll(way: Way, firstSeed: number, count: number): Promise<Tally & { readonly programs: number }> {
  const total = { programs: 0, roots: 0, spans: 0, folded: 0, failed: 0, growths: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const tally = await checkSpanTree(seed, way);
    if (tally === undefined) continue;
    total.programs++;
    for (const key of ['roots', 'spans', 'folded', 'failed', 'growths'] as const) total[key] += tally[key];
  }
  return total;
}

/** A tenth of the programs in the quick run, which show a tenth. */
const [bound, instantiated, replayed] = [volume(120, 1_200), volume(50, 500), volume(50, 500)];

describe('start() on programs whose calls are known', () => {
  it(`gives exactly the spans of ${bound} programs that bind() runs, to the nanosecond`, async (test) => {
    const { roots, spans, folded, failed, growths } = await checkAll('bind', 1, bound);
    test.diagnostic(`${roots} roots, ${spans} spans (${failed} failed, ${growths} growths), ${folded} folded calls`);
    assert.ok(spans > 83 * bound && folded > 41 * bound && failed > 2.5 * bound && growths > 2.5 * bound);
  });

  it(`gives exactly the tree of ${instantiated} programs that instantiateSync() runs`, async (test) => {
    const { spans, failed } = await checkAll('instantiate', 2_001, instantiated);
    test.diagnostic(`${spans} spans, ${failed} failed`);
    assert.ok(spans > 200 * instantiated && failed > 4 * instantiated);
  });

  it('needs no bind() where the host continues with nothing that lies around a trap', async (test) => {
    const { programs, spans, folded, failed } = await checkAll('events', 3_001, replayed);
    test.diagnostic(`${programs} of ${replayed} programs, ${spans} spans (${failed} failed), ${folded} folded calls`);
    assert.ok(programs > 0.9 * replayed && spans > 100 * replayed && failed > replayed);
  });
});
