import type { SimulationReport, Verdict } from '@tenon/protocol';
import type { ExtensionPointRecord, VersionRecord } from '../db/records.ts';
import type { SimulationRecord } from '../db/simulation-records.ts';
import type { Deps } from '../deps.ts';
import { describeMismatches } from '../plugins/module-checker.ts';
import type { TestResult } from '../plugins/version-tester.ts';
import { boundReports } from './bound-reports.ts';
import { notRun, storedSource } from './simulation-inputs.ts';
import type { SimulatorOptions } from './simulator.ts';

/** The result of a test against all simulations of an extension point. */
export interface SimulationsResult extends TestResult {
  readonly reports: readonly SimulationReport[];
}

type RunDeps = Pick<Deps, 'contents' | 'simulator'> & {
  readonly settings: Pick<Deps['settings'], 'simulationTimeoutMs'>;
};

/** How many times as long as one simulation all of them together may run. */
const maxTimeouts = 6;

/**
 * Tests a stored version. A version in the state `testing` must also fit the extension point's schema and limits, which may have changed
 * since it was published.
 *
 * @throws PoolError, DamagedContentError, and errors of the stores
 */
export async function testVersion(
  deps: RunDeps & Pick<Deps, 'store' | 'checker'>,
  version: VersionRecord,
  extensionPoint: ExtensionPointRecord,
  signal: AbortSignal,
): Promise<SimulationsResult> {
  const options = { fairnessKey: version.userId, signal };
  const content = await deps.contents.find(version.contentAddress);
  if (content === undefined) throw new Error('The bytes are missing.');
  const plugin = await content.read();
  if (version.state === 'testing') {
    const interfaceJson = await deps.store.read.interfaceOf(version.id);
    const [mismatches] =
      interfaceJson === null
        ? [(await deps.checker.check(plugin, extensionPoint, options)).mismatches]
        : await deps.checker.compare([interfaceJson], extensionPoint, options);
    if (mismatches?.length !== 0) {
      return { verdict: 'failed', detail: quotable(describeMismatches(mismatches ?? []), 1000), reports: [] };
    }
  }
  const simulations = await deps.store.read.simulations(extensionPoint.id);
  return runSimulations(deps, plugin, extensionPoint, simulations, options);
}

/**
 * Tests a plugin against simulations, one after another. Stops when one has timed out, or when they have run for too long together.
 *
 * @param plugin the bytes of the module
 * @throws PoolError, DamagedContentError, and errors of the stores
 */
export async function runSimulations(
  deps: RunDeps,
  plugin: Uint8Array,
  { schemaJson }: Pick<ExtensionPointRecord, 'schemaJson'>,
  simulations: readonly SimulationRecord[],
  options: SimulatorOptions,
): Promise<SimulationsResult> {
  const reports: SimulationReport[] = [];
  const maxMs = maxTimeouts * deps.settings.simulationTimeoutMs;
  let ranMs = 0;
  for (const stored of simulations) {
    const slow = reports.find(({ verdict }) => verdict === 'timed_out');
    if (slow !== undefined || ranMs > maxMs) {
      const why = slow === undefined ? 'those before it ran for too long together' : `${slow.name} timed out`;
      reports.push(notRun(stored, slow === undefined ? 'timed_out' : 'errored', `It was not run, because ${why}.`));
      continue;
    }
    const simulation = await storedSource(deps, stored).read();
    const report = await deps.simulator.run({ plugin, simulation, schemaJson }, options);
    reports.push(report);
    ranMs += report.durationMs;
  }
  return summarize(reports);
}

/** An error of the server takes precedence only over `passed`: a plugin that fails one simulation has failed, whatever the others do. */
const precedence = ['failed', 'timed_out', 'errored', 'passed'] as const;

export function verdictOf(reports: readonly SimulationReport[]): Verdict {
  return precedence.find((one) => reports.some(({ verdict }) => verdict === one)) ?? 'none_configured';
}

/** The verdict of all simulations. */
export async function summarize(reports: readonly SimulationReport[]): Promise<SimulationsResult> {
  const verdict = verdictOf(reports);
  const decisive = reports.find((report) => report.verdict === verdict);
  const detail = decisive === undefined || verdict === 'passed' ? null : describe(decisive);
  return { verdict, detail, reports: await boundReports(reports) };
}

const predicates = { failed: 'failed', timed_out: 'timed out', errored: 'could not run', passed: 'passed' } as const;

/** The maximum length of a text from a module in {@link SimulationsResult.detail}. */
const maxQuoted = 160;

function describe({ name, verdict, detail, assertions }: SimulationReport): string {
  const failed = assertions.filter(({ passed }) => !passed);
  const [first] = failed;
  const why =
    detail ?? (first === undefined ? null : `${first.name}${first.reason === null ? '' : ` (${first.reason})`}`);
  const others = failed.length > 1 && detail === null ? `, and ${failed.length - 1} more` : '';
  return `The simulation ${name} ${predicates[verdict]}${why === null ? '' : `: ${quotable(why)}`}${others}`;
}

/** Shortens a text from a module, and removes what databases and terminals don't accept. */
function quotable(text: string, maxLength = maxQuoted): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return plain.length > maxLength ? `${plain.slice(0, maxLength).toWellFormed()}…` : plain;
}
