import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scenarios } from '../../../test/helpers/real-programs/scenarios.ts';
import { runScenario as run } from './support/run-scenario.ts';

const sorted = <Key extends string | number>(counts: Map<Key, number>) =>
  [...counts].sort(([first], [second]) => (first < second ? -1 : 1));
const total = (counts: Map<unknown, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Go's scheduler looks at the clock, so two runs of one program do not make the same calls. */
const unpredictable = new Set(['Go: esbuild-wasm']);

describe('instrument() on real modules', () => {
  for (const scenario of Object.keys(scenarios)) {
    it(`${scenario}: the same results, nested calls, counts that others confirm`, async (test) => {
      const plain = await run(scenario, 'plain');
      const traced = await run(scenario, 'traced');
      assert.deepEqual(traced.result, plain.result);
      assert.ok(traced.modules.length > 0 && traced.modules.every(({ isValid }) => isValid));
      assert.equal(traced.fault, undefined);
      assert.equal(traced.leftByHost, 0);
      assert.ok(total(traced.calls) > 1_000, 'the scenario calls functions');
      // JavaScript around the import object counts in the same run.
      assert.deepEqual(sorted(traced.importEnters), sorted(traced.importCalls));
      const [module] = traced.modules;
      const growth = ((module?.outputBytes ?? 0) / (module?.inputBytes ?? 1) - 1) * 100;
      test.diagnostic(`${total(traced.calls)} calls, ${total(traced.importCalls)} of imports, +${growth.toFixed(1)} %`);
      if (unpredictable.has(scenario)) return;
      assert.deepEqual(sorted(traced.importCalls), sorted(plain.importCalls));
      const counted = await run(scenario, 'counted');
      assert.deepEqual(counted.result, plain.result);
      assert.deepEqual(sorted(traced.calls), sorted(counted.calls));
    });
  }
});
