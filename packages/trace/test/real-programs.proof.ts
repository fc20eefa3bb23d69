import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outcomeOfWorker } from '../../../test/helpers/real-programs/outcome-of-worker.ts';
import { scenarios } from '../../../test/helpers/real-programs/scenarios.ts';
import type { Mode, Outcome } from './support/scenario-worker.ts';

/** Go's scheduler looks at the clock, so two runs of one program do not make the same calls. */
const unpredictable = new Set(['Go: esbuild-wasm']);

const sorted = <Key extends string | number>(counts: Map<Key, number>) =>
  [...counts].sort(([first], [second]) => (first < second ? -1 : 1));
const total = (counts: Map<unknown, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);

describe('start() on real programs', () => {
  for (const scenario of Object.keys(scenarios)) {
    it(`${scenario}: counts that others confirm, and spans that add up`, async (test) => {
      const traced = await run(scenario, 'traced');
      assert.deepEqual(traced.faults, []);
      assert.deepEqual(sorted(traced.tracedImports), sorted(traced.importCalls));
      const calls = total(traced.calls) + total(traced.tracedImports);
      assert.equal(traced.spans + traced.folded, calls, 'every call has a span or is folded');
      assert.ok(traced.spans >= traced.roots && traced.roots > 0 && calls > 1_000, 'the scenario calls functions');
      // Growth while nothing is being called has no span to go to.
      assert.deepEqual({ ...traced.dropped, events: 0 }, nothingDropped);
      test.diagnostic(`${calls} calls in ${traced.roots} roots, ${traced.spans} spans`);
      if (unpredictable.has(scenario)) return;
      const counted = await run(scenario, 'counted');
      assert.deepEqual(traced.result, counted.result);
      assert.deepEqual(sorted(traced.calls), sorted(counted.calls));
    });
  }
});

const nothingDropped = { spans: 0, depth: 0, events: 0, attributes: 0, functions: 0, unmatched: 0, exports: 0 };

function run(scenario: string, mode: Mode): Promise<Outcome> {
  return outcomeOfWorker(new URL('./support/scenario-worker.ts', import.meta.url), { scenario, mode });
}
