import type { SimulationReport, Verdict } from '@tenon/protocol';
import { type ExitCode, exitCodes } from '../exit-codes.ts';

/** The results of a module's simulations on this machine. */
export interface TestRun {
  readonly verdict: Verdict;
  /** The module; `-` for stdin. */
  readonly file: string;
  readonly contentAddress: string;
  readonly simulations: readonly SimulationReport[];
}

/** The verdict on a module: the worst of its simulations, as the server takes it. */
export function verdictOf(simulations: readonly Pick<SimulationReport, 'verdict'>[]): Verdict {
  const worst = (['failed', 'timed_out', 'errored', 'passed'] as const).find((verdict) =>
    simulations.some((simulation) => simulation.verdict === verdict),
  );
  return worst ?? 'none_configured';
}

/** The exit code of a command that tests. */
export const exitCodeOfVerdict: Readonly<Record<Verdict, ExitCode>> = {
  passed: exitCodes.success,
  failed: exitCodes.failure,
  timed_out: exitCodes.timedOut,
  errored: exitCodes.errored,
  none_configured: exitCodes.noTests,
};

/** A verdict for people: `timed out`. */
export function verdictInWords(verdict: Verdict): string {
  return verdict === 'none_configured' ? 'no simulations' : verdict.replaceAll('_', ' ');
}

/** The assertions of a report in their groups, in order. */
export function groupsOf({ assertions }: SimulationReport): Map<string | null, SimulationReport['assertions']> {
  return Map.groupBy(assertions, ({ group }) => group);
}

/** Why a simulation did not pass, if no assertion says so. */
export function unexplained({ verdict, detail, assertions }: SimulationReport): string | undefined {
  if (verdict === 'passed') return undefined;
  const hasFailed = assertions.some(({ passed }) => !passed);
  if (hasFailed && (detail === null || countOfFailed.test(detail))) return undefined;
  return detail ?? `The simulation ${verdictInWords(verdict)}.`;
}

/** The runner's detail if assertions alone failed. */
const countOfFailed = /^\d+ of \d+ assertions failed$/;
