import type { CallReports, CallSeries } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { CallReportRecord, CallSums } from '../db/call-report-records.ts';
import type { RollOutRecord } from '../db/roll-out-records.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { time } from '../http/wire-time.ts';
import { findPlugin, findVersion, type PluginTarget } from '../plugins/plugins.ts';
import { toCallTotals } from './judge.ts';

export const noCalls: CallSums = { calls: 0, errors: 0, durations: {}, memoryBytes: null };

/**
 * Returns what hosts have reported about a version in a roll-out, and about the version before.
 *
 * @throws DomainError `not_found` without a roll-out
 */
export async function readCallReports(
  { store: { read } }: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<CallReports> {
  const plugin = await findPlugin(read, access.actor, access, target);
  const version = await findVersion(read, plugin, number);
  const rollOut = await read.rollOut(version.id);
  if (rollOut === undefined) throw notFound('roll-out');
  const [steps, slots, previousSlots, previous] = await Promise.all([
    read.stepReports(version.id, rollOut.stepAtMs),
    read.reportSlots(version.id, 'version'),
    read.reportSlots(version.id, 'previous'),
    read.versionBefore(plugin, version.number),
  ]);
  const sums = (series: CallReportRecord['series']) => steps.find((one) => one.series === series) ?? noCalls;
  return {
    stepAt: time(rollOut.stepAtMs),
    version: toSeries(rollOut, version.number, sums('version'), slots),
    previous: previous === undefined ? null : toSeries(rollOut, previous.number, sums('previous'), previousSlots),
  };
}

/** @param slots the newest first */
function toSeries(
  { createdAtMs }: RollOutRecord,
  version: number,
  sums: CallSums,
  slots: readonly CallReportRecord[],
): CallSeries {
  const points = slots.filter(({ fromMs }) => fromMs >= createdAtMs - (createdAtMs % 60_000)).toReversed();
  return {
    version,
    totals: toCallTotals(sums),
    points: points.map((slot) => ({ at: time(slot.fromMs), ...toCallTotals(slot) })),
  };
}
