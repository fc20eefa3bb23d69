import { createHash } from 'node:crypto';
import type { SimulationReport } from '@tenon/protocol';
import { defaultSimulationLimits, type PluginCoverage, type SimulationInputs } from '@tenon/run-kit/simulation';
import type { CoveredModule } from '../coverage/report-coverage.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { showStep } from '../progress.ts';
import { printable } from '../text.ts';
import { runTask } from './run-task.ts';
import { type TestRun, verdictOf } from './test-run.ts';

export interface RunTestsOptions {
  readonly file: string;
  readonly simulations: readonly SimulationInputs[];
  readonly schemaJson: string | null;
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
  /** Whether people read along. */
  readonly isShown: boolean;
  readonly measuresCoverage: boolean;
}

/** The results, and the module's coverage by all simulations, if it is measured. */
export interface TestedModule {
  readonly run: TestRun;
  readonly coverage: CoveredModule | undefined;
}

/** Runs the simulations of a module one after the other. */
export async function runTests(io: Pick<Io, 'stdin' | 'stderr'>, options: RunTestsOptions): Promise<TestedModule> {
  const { file, simulations, schemaJson, timeLimitMs, signal, isShown, measuresCoverage } = options;
  const plugin = await readInput(io, file, 'the module');
  const reports: SimulationReport[] = [];
  let measured: PluginCoverage | undefined;
  const onCoverage = (coverage: PluginCoverage) => {
    const counts = coverage.counts.map((count, at) => count + (measured?.counts[at] ?? 0));
    measured = { map: coverage.map, counts };
  };
  for (const [at, simulation] of simulations.entries()) {
    const hide = showStep(io, isShown, `Running ${printable(simulation.name)} (${at + 1} of ${simulations.length}) …`);
    const task = { plugin, simulation, schemaJson, limits: defaultSimulationLimits, measuresCoverage };
    reports.push(await runTask(task, { timeLimitMs, signal, onCoverage }).finally(hide));
  }
  const contentAddress = createHash('sha256').update(plugin).digest('base64url');
  return {
    run: { verdict: verdictOf(reports), file, contentAddress, simulations: reports },
    coverage: measured && { file, bytes: plugin, ...measured },
  };
}
