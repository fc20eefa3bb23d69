import type { SimulationReport } from '@tenon/protocol';
import { runFixtures } from './fixtures.ts';
import { runTestModule } from './harness.ts';
import { mockHostFunctions, noHostFunctions } from './host-functions.ts';
import { prepareModule, SimulationFailure } from './module.ts';
import { createPluginUnderTest } from './plugin-under-test.ts';
import { createReport, type LogLine, type ReportBuilder } from './report.ts';
import type { SimulationTask } from './task.ts';

/**
 * Runs a plugin against a simulation: a test module, or fixtures. Blocks until it has ended, so run it where it can be killed.
 * The same task gives the same report, apart from times. A report of a plugin that passes has the verdict `passed`; otherwise
 * it is `failed`, also for a plugin, test module or mock host that can't run.
 */
export function runSimulation(task: SimulationTask): SimulationReport {
  const { name, revision } = task.simulation;
  const report = createReport(name, revision);
  try {
    const detail = run(task, report);
    const { total, failed } = report.assertions();
    if (detail === undefined && failed === 0) return report.finish('passed', undefined);
    const counted = failed === 0 ? undefined : `${failed} of ${total} assertions failed`;
    return report.finish('failed', detail ?? counted);
  } catch (error) {
    if (error instanceof SimulationFailure) return report.finish('failed', error.message);
    throw error;
  }
}

/** @returns why the plugin failed, apart from assertions */
function run(
  { plugin: bytes, simulation, schemaJson, limits }: SimulationTask,
  report: ReportBuilder,
): string | undefined {
  const { testModule, mockHost, mockInput, fixtures } = simulation;
  const source: { from: LogLine['from'] } = { from: 'plugin' };
  const prepare = (module: Uint8Array, what: string, countsCalls: boolean) =>
    prepareModule(module, what, limits.maxMemoryBytes, { countsCalls });
  const plugin = createPluginUnderTest(prepare(bytes, 'The plugin', true), limits, report, source);
  const host =
    mockHost &&
    mockHostFunctions(prepare(mockHost, 'The mock host', false), mockInput, (stream, text) =>
      report.log('host', stream, text),
    );
  if (fixtures !== undefined) {
    runFixtures(fixtures, plugin, host, schemaJson === null ? undefined : JSON.parse(schemaJson), report);
    return report.assertions().total === 0 ? 'The simulation has no fixtures' : undefined;
  }
  if (testModule === undefined) throw new SimulationFailure('The simulation has neither a test module nor fixtures');
  const test = prepare(testModule, 'The test module', false);
  return runTestModule(test, plugin(host ?? noHostFunctions), mockInput, limits, report);
}
