import type { SimulationReport, SimulationVerdict } from '@tenon/protocol';
import { runFixtures } from './fixtures.ts';
import { runTestModule } from './harness.ts';
import { mockHostFunctions, noHostFunctions } from './host-functions.ts';
import { OutOfFuel, prepareModule, SimulationFailure, type SimulationModule } from './module.ts';
import { createPluginUnderTest } from './plugin-under-test.ts';
import { createReport, type LogLine, type ReportBuilder } from './report.ts';
import type { PluginCoverage, SimulationTask } from './task.ts';

/**
 * Runs a plugin against a simulation: a test module, or fixtures. Blocks until it has ended, so run it where it can be killed.
 * The same task gives the same report, apart from times. A report of a plugin that passes has the verdict `passed`; otherwise
 * it is `failed`, also for a plugin, test module or mock host that can't run, or `timed_out` if one executes too many instructions.
 *
 * @param onCoverage called at the end with the plugin's coverage, if it was measured
 */
export function runSimulation(
  task: SimulationTask,
  onCoverage: (coverage: PluginCoverage) => void = () => {},
): SimulationReport {
  const { name, revision } = task.simulation;
  const report = createReport(name, revision);
  let plugin: SimulationModule | undefined;
  const finish = (verdict: SimulationVerdict, detail: string | undefined): SimulationReport => {
    if (plugin?.coverage !== undefined) onCoverage(plugin.coverage);
    return report.finish(verdict, detail, plugin?.coverage && summaryOf(plugin.coverage));
  };
  try {
    const { measuresCoverage } = task;
    plugin = prepareModule(task.plugin, 'The plugin', task.limits, { countsCalls: true, measuresCoverage });
    const detail = run(task, plugin, report);
    const { total, failed } = report.assertions();
    if (detail === undefined && failed === 0) return finish('passed', undefined);
    const counted = failed === 0 ? undefined : `${failed} of ${total} assertions failed`;
    return finish('failed', detail ?? counted);
  } catch (error) {
    if (!(error instanceof SimulationFailure)) throw error;
    return finish(error instanceof OutOfFuel ? 'timed_out' : 'failed', error.message);
  }
}

function summaryOf({ map: { functions, blockCount }, counts }: PluginCoverage): SimulationReport['coverage'] {
  let first = 0;
  const called = functions.filter(({ blocks }) => {
    first += blocks.length;
    return (counts[first - blocks.length] ?? 0) > 0;
  });
  return {
    functions: { total: functions.length, covered: called.length },
    blocks: { total: blockCount, covered: counts.filter((count) => count > 0).length },
  };
}

/** @returns why the plugin failed, apart from assertions */
function run(
  { simulation, schemaJson, limits }: SimulationTask,
  pluginModule: SimulationModule,
  report: ReportBuilder,
): string | undefined {
  const { testModule, mockHost, mockInput, fixtures } = simulation;
  const source: { from: LogLine['from'] } = { from: 'plugin' };
  const prepare = (module: Uint8Array, what: string) => prepareModule(module, what, limits, { countsCalls: false });
  const plugin = createPluginUnderTest(pluginModule, limits, report, source);
  const host =
    mockHost &&
    mockHostFunctions(prepare(mockHost, 'The mock host'), mockInput, (stream, text) =>
      report.log('host', stream, text),
    );
  if (fixtures !== undefined) {
    runFixtures(fixtures, plugin, host, schemaJson === null ? undefined : JSON.parse(schemaJson), report);
    return report.assertions().total === 0 ? 'The simulation has no fixtures' : undefined;
  }
  if (testModule === undefined) throw new SimulationFailure('The simulation has neither a test module nor fixtures');
  const test = prepare(testModule, 'The test module');
  const tested = plugin(host ?? noHostFunctions);
  try {
    return runTestModule(test, tested, mockInput, limits, report);
  } finally {
    tested.reset();
  }
}
