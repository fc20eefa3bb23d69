import { createHash } from 'node:crypto';
import type { SimulationReport } from '@tenon/protocol';
import { defaultSimulationLimits, type SimulationInputs } from '@tenon/run-kit/simulation';
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
}

/** Runs the simulations of a module one after the other. */
export async function runTests(io: Pick<Io, 'stdin' | 'stderr'>, options: RunTestsOptions): Promise<TestRun> {
  const { file, simulations, schemaJson, timeLimitMs, signal, isShown } = options;
  const plugin = await readInput(io, file, 'the module');
  const reports: SimulationReport[] = [];
  for (const [at, simulation] of simulations.entries()) {
    const hide = showStep(io, isShown, `Running ${printable(simulation.name)} (${at + 1} of ${simulations.length}) …`);
    const task = { plugin, simulation, schemaJson, limits: defaultSimulationLimits };
    reports.push(await runTask(task, { timeLimitMs, signal }).finally(hide));
  }
  const contentAddress = createHash('sha256').update(plugin).digest('base64url');
  return { verdict: verdictOf(reports), file, contentAddress, simulations: reports };
}
