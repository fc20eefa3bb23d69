import type { CallReportRecord } from '../db/call-report-records.ts';
import type { Deps } from '../deps.ts';
import { finishRebind, retryAfterPendingRebind } from '../plugins/rebind.ts';
import { haltRollOut } from '../plugins/roll-outs/halt.ts';
import type { RolledOutVersion } from './call-report-queries.ts';
import { judgeReports, toCallTotals } from './judge.ts';

/** Halts a roll-out if what hosts have reported since its step began exceeds a limit of its plan. */
export async function haltIfExceeded(deps: Deps, rollOut: RolledOutVersion): Promise<void> {
  const { versionId, state, stepAtMs, plan } = rollOut;
  if (plan.halt === null || state === 'halted') return;
  const rows = await deps.store.read.stepReports(versionId, stepAtMs);
  const totalsOf = (series: CallReportRecord['series']) => {
    const row = rows.find((one) => one.series === series);
    return row === undefined ? undefined : toCallTotals(row);
  };
  const version = totalsOf('version');
  const reason = version === undefined ? undefined : judgeReports(plan.halt, version, totalsOf('previous'));
  if (reason === undefined) return;
  const halt = () => deps.store.write((tx) => haltRollOut(deps, tx, rollOut, reason));
  if (await retryAfterPendingRebind(deps, halt)) await finishRebind(deps, rollOut);
}
