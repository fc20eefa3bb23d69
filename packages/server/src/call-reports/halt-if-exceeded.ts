import type { CallReportRecord, CallSums } from '../db/call-report-records.ts';
import type { Deps } from '../deps.ts';
import { finishRebind, retryAfterPendingRebind } from '../plugins/rebind.ts';
import { haltRollOut } from '../plugins/roll-outs/halt.ts';
import type { RolledOutVersion } from './call-report-queries.ts';
import { judgeReports, toCallTotals } from './judge.ts';
import { noCalls } from './read-call-reports.ts';
import { addSums } from './read-otlp.ts';

/**
 * Halts a roll-out if what hosts have reported since its step began exceeds a limit of its plan. If they have reported too few calls of the
 * version before in the step, for instance because it reaches all guests, those in the steps before count, too.
 */
export async function haltIfExceeded(deps: Deps, rollOut: RolledOutVersion): Promise<void> {
  const { versionId, state, createdAtMs, stepAtMs, plan } = rollOut;
  if (plan.halt === null || state === 'halted') return;
  const { read } = deps.store;
  const rows = await read.stepReports(versionId, stepAtMs);
  const sumsOf = (series: CallReportRecord['series']) => rows.find((one) => one.series === series);
  const version = sumsOf('version');
  if (version === undefined || version.calls < plan.halt.minCalls) return;
  let previous: CallSums | undefined = sumsOf('previous');
  if (previous === undefined || previous.calls < plan.halt.minCalls) {
    const steps = await read.previousReports(versionId, createdAtMs);
    previous = steps.length === 0 ? undefined : steps.reduce<CallSums>((sums, step) => addSums(sums, step), noCalls);
  }
  const reason = judgeReports(plan.halt, toCallTotals(version), previous && toCallTotals(previous));
  if (reason === undefined) return;
  const halt = () => deps.store.write((tx) => haltRollOut(deps, tx, rollOut, reason));
  if (await retryAfterPendingRebind(deps, halt)) await finishRebind(deps, rollOut);
}
