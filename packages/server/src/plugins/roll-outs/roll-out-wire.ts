import type * as wire from '@tenon/protocol';
import { percentOfStep, pluginId } from '@tenon/protocol';
import type { RollOutRecord } from '../../db/roll-out-records.ts';
import { time, timeOrNull } from '../../http/wire-time.ts';
import type { RollOutWithGuests } from './roll-outs.ts';

export function toRollOutSummary({ state, step, plan }: RollOutRecord): wire.RollOutSummary {
  return { state, step, steps: plan.steps.length, percent: percentOfStep(plan, step) };
}

/** @param isForMember whether the caller may see rings and the numbers of calls */
export function toRollOut(found: RollOutWithGuests, isForMember: boolean): wire.RollOut {
  const { rollOut, previous, guests, missing } = found;
  const isPlanned = rollOut.state === 'planned';
  return {
    pluginId: pluginId(rollOut.extensionPointId, rollOut.userId, rollOut.name),
    version: rollOut.number,
    semver: rollOut.semver,
    versionId: rollOut.versionId,
    previousVersion: previous?.number ?? null,
    ...toRollOutSummary(rollOut),
    reason: rollOut.reason,
    plan: isForMember && rollOut.plan.steps.length > 0 ? rollOut.plan : null,
    reachedGuests: guests.bound,
    totalGuests: guests.all,
    startedAt: isPlanned ? null : time(rollOut.createdAtMs),
    stepAt: isPlanned ? null : time(rollOut.stepAtMs),
    nextStepAt: timeOrNull(rollOut.dueAtMs),
    waitsForReports: isForMember && missing !== undefined ? missing : null,
    endedAt: timeOrNull(rollOut.endedAtMs),
  };
}
