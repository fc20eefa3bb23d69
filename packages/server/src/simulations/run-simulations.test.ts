import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newId, type SimulationReport } from '@tenon/protocol';
import { simulationRecord } from '../../test/helpers/records.ts';
import { reportOf } from '../../test/helpers/simulations.ts';
import { runSimulations } from './run-simulations.ts';

/** Runs ten simulations of which each comes to a report. */
async function run(reportAt: (index: number) => Partial<SimulationReport>) {
  let runs = 0;
  const simulator = { run: async () => ({ ...reportOf('passed'), ...reportAt(runs++) }) };
  const deps = { contents: {}, simulator, settings: { simulationTimeoutMs: 10_000 } } as never;
  const id = newId('extensionPoint');
  const modules = { testModule: null, testModuleSize: null, mockHost: null, mockHostSize: null, fixturesJson: '[]' };
  const simulations = Array.from({ length: 10 }, (_, at) => simulationRecord(id, { ...modules, name: `s${at}` }));
  const result = await runSimulations(deps, new Uint8Array(), { schemaJson: '{}' }, simulations, { fairnessKey: 'a' });
  return { ...result, runs };
}

it('runs all simulations, also after one failed', async () => {
  const { verdict, runs, reports } = await run((at) => ({ verdict: at === 1 ? 'failed' : 'passed' }));
  assert.deepEqual([verdict, runs, reports.length], ['failed', 10, 10]);
});

it('stops when one has timed out, and says so', async () => {
  const { verdict, runs, reports } = await run((at) => ({
    verdict: at === 1 ? 'timed_out' : 'passed',
    name: `s${at}`,
  }));
  assert.deepEqual([verdict, runs, reports.length], ['timed_out', 2, 10]);
  assert.equal(reports[2]?.detail, 'It was not run, because s1 timed out.');
});

it('stops when they have run for too long together', async () => {
  const { verdict, detail, runs, reports } = await run(() => ({ durationMs: 9999 }));
  assert.deepEqual([verdict, runs, reports.length], ['timed_out', 7, 10]);
  assert.match(detail ?? '', /^The simulation s7 timed out: It was not run, because those before it ran for too long/);
});
