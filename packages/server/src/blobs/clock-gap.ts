import type { Clock } from '../db/store.ts';
import type { Deps } from '../deps.ts';

/*
 * Maintenance deletes data by age. If the clock were far ahead, it would delete data that is not old enough. Therefore maintenance
 * compares the clock with the time of the last maintenance, and deletes nothing while the clock may be wrong.
 */

/** How much later than the last maintenance the clock may be before it counts as possibly wrong. */
export const maxClockGapMs = 14 * 24 * 60 * 60 * 1000;

/** How much uptime a possibly wrong clock must run evenly before it is trusted. */
export const probationMs = 7 * 24 * 60 * 60 * 1000;

/** How old the record of the last maintenance may become before it is updated. */
const maxRecordAgeMs = 12 * 60 * 60 * 1000;

type JobDeps = Pick<Deps, 'store' | 'clock'>;

/**
 * Returns how much time has passed, by the clock, since the last maintenance. Without one, it uses the newest audit event. Above
 * {@link maxClockGapMs}, the clock may be wrong.
 *
 * @returns milliseconds; 0 without maintenance and audit events
 */
export async function clockGap({ store: { read }, clock }: JobDeps): Promise<number> {
  const maintenance = (await read.maintenanceRuns()).find(({ kind }) => kind === 'maintenance');
  const [newestEvent] = maintenance === undefined ? await read.auditOfAll({}, { limit: 1 }) : [];
  const lastMs = maintenance?.endedAtMs ?? newestEvent?.atMs;
  return lastMs === undefined ? 0 : Math.max(0, clock() - lastMs);
}

/** Stores that the clock is right. Call it after maintenance, or when an operator confirms the clock. */
export async function trustClock({ store, clock }: JobDeps): Promise<void> {
  const endedAtMs = clock();
  await store.write(async (tx) => {
    await tx.putMaintenanceRun({ kind: 'maintenance', endedAtMs, outcome: {} });
    await tx.putMaintenanceRun({ kind: 'clock', endedAtMs, outcome: { evenMs: 0 } });
  });
}

/** Records that maintenance ran. Updates only an old record, so that an idle server writes little. */
export async function recordMaintenance(deps: JobDeps): Promise<void> {
  const maintenanceRuns = await deps.store.read.maintenanceRuns();
  const sinceMs = deps.clock() - (maintenanceRuns.find(({ kind }) => kind === 'maintenance')?.endedAtMs ?? 0);
  const isOnProbation = maintenanceRuns.some(({ kind, outcome }) => kind === 'clock' && outcome.evenMs !== 0);
  if (sinceMs < 0 || sinceMs >= maxRecordAgeMs || isOnProbation) await trustClock(deps);
}

export interface ClockCheck {
  readonly isTrusted: boolean;
  /** See {@link clockGap}. */
  readonly gapMs: number;
  /** How much more uptime the clock needs before it is trusted, in milliseconds; 0 for a trusted clock. */
  readonly remainingMs: number;
}

/**
 * Creates the check to run before each maintenance.
 *
 * If the clock is more than {@link maxClockGapMs} later than the last maintenance, the server may have been off for that long, or the
 * clock may be wrong. Such a clock is on probation. It is trusted after it has agreed with the monotonic clock for {@link probationMs}
 * of uptime. The probation restarts if the clock goes back or jumps by more than {@link maxClockGapMs}. It continues after a restart of
 * the server. All processes on the same data share it.
 *
 * @param monotonicClock returns elapsed milliseconds
 */
export function createClockCheck({ store, clock }: JobDeps, monotonicClock: Clock): () => Promise<ClockCheck> {
  let checkedAt: number | undefined;
  return async () => {
    const elapsedMs = checkedAt === undefined ? 0 : monotonicClock() - checkedAt;
    checkedAt = monotonicClock();
    const gapMs = await clockGap({ store, clock });
    if (gapMs <= maxClockGapMs) return { isTrusted: true, gapMs, remainingMs: 0 };
    const evenMs = await store.write(async (tx) => {
      const nowMs = clock();
      const maintenanceRuns = await tx.maintenanceRuns();
      // Stored, because new audit events have the time of this clock, and would hide the gap.
      if (!maintenanceRuns.some(({ kind }) => kind === 'maintenance')) {
        await tx.putMaintenanceRun({ kind: 'maintenance', endedAtMs: nowMs - gapMs, outcome: {} });
      }
      const last = maintenanceRuns.find(({ kind }) => kind === 'clock');
      const sinceMs = nowMs - (last?.endedAtMs ?? nowMs);
      const isEven = sinceMs >= 0 && sinceMs <= maxClockGapMs;
      // At most the time that this process has measured, so that neither a jump nor downtime counts.
      const totalMs = isEven ? (last?.outcome.evenMs ?? 0) + Math.min(sinceMs, elapsedMs) : 0;
      await tx.putMaintenanceRun({ kind: 'clock', endedAtMs: nowMs, outcome: { evenMs: totalMs } });
      return totalMs;
    });
    const remainingMs = Math.max(0, probationMs - evenMs);
    return { isTrusted: remainingMs === 0, gapMs, remainingMs };
  };
}
