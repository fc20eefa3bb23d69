import type { Context } from '../context.ts';
import type { Clock } from '../ports.ts';

/**
 * How far the clock may lie beyond the last maintenance before it is taken for wrong, in milliseconds: what is deleted by a clock that
 * is ahead doesn't come back.
 */
export const maxClockGapMs = 14 * 24 * 60 * 60 * 1000;

/** For how long a clock that was taken for wrong has to run evenly until it is trusted, in milliseconds of uptime. */
export const probationMs = 7 * 24 * 60 * 60 * 1000;

type Deps = Pick<Context, 'store' | 'clock'>;

/**
 * How much time has passed since the last maintenance by the clock, or since the newest audit event where there was none. Above
 * {@link maxClockGapMs}, maintenance deletes nothing: the clock may be wrong.
 *
 * @returns milliseconds; 0 for a store without either
 */
export async function clockGap({ store: { read }, clock }: Deps): Promise<number> {
  const mark = (await read.chores()).find(({ kind }) => kind === 'maintenance');
  const [newest] = mark === undefined ? await read.auditOfAll({}, { limit: 1 }) : [];
  const lastMs = mark?.endedAtMs ?? newest?.atMs;
  return lastMs === undefined ? 0 : Math.max(0, clock() - lastMs);
}

/** Notes that the clock is right. Call it after maintenance, or when an operator vouches for the clock. */
export async function trustClock({ store, clock }: Deps): Promise<void> {
  const endedAtMs = clock();
  await store.write(async (tx) => {
    await tx.putChore({ kind: 'maintenance', endedAtMs, outcome: {} });
    await tx.putChore({ kind: 'clock', endedAtMs, outcome: { evenMs: 0 } });
  });
}

/** The result of a check of the clock. */
export interface ClockCheck {
  readonly isTrusted: boolean;
  /** See {@link clockGap}. */
  readonly gapMs: number;
  /** How much more uptime the clock needs until it is trusted, in milliseconds; 0 when it is. */
  readonly remainingMs: number;
}

/**
 * Makes the check that precedes each maintenance. A clock that lies too far beyond the last maintenance is on probation: the server may
 * have been off for that long, or the clock may be wrong. It is trusted once it has run evenly, beside the monotonic clock, for
 * {@link probationMs} of uptime. A clock that goes back, or jumps by more than {@link maxClockGapMs}, starts over. Restarts count
 * nothing, and lose nothing. Processes on the same data share one probation.
 *
 * @param monotonicClock elapsed time in milliseconds
 */
export function createClockCheck({ store, clock }: Deps, monotonicClock: Clock): () => Promise<ClockCheck> {
  let checkedAt: number | undefined;
  return async () => {
    const elapsedMs = checkedAt === undefined ? 0 : monotonicClock() - checkedAt;
    checkedAt = monotonicClock();
    const gapMs = await clockGap({ store, clock });
    if (gapMs <= maxClockGapMs) return { isTrusted: true, gapMs, remainingMs: 0 };
    const evenMs = await store.write(async (tx) => {
      const nowMs = clock();
      const chores = await tx.chores();
      // Written down, since audit events of this clock would vouch for it.
      if (!chores.some(({ kind }) => kind === 'maintenance')) {
        await tx.putChore({ kind: 'maintenance', endedAtMs: nowMs - gapMs, outcome: {} });
      }
      const last = chores.find(({ kind }) => kind === 'clock');
      const sinceMs = nowMs - (last?.endedAtMs ?? nowMs);
      const isEven = sinceMs >= 0 && sinceMs <= maxClockGapMs;
      // No more than this process has seen pass, so that neither a jump nor the time between two runs counts.
      const total = isEven ? (last?.outcome.evenMs ?? 0) + Math.min(sinceMs, elapsedMs) : 0;
      await tx.putChore({ kind: 'clock', endedAtMs: nowMs, outcome: { evenMs: total } });
      return total;
    });
    const remainingMs = Math.max(0, probationMs - evenMs);
    return { isTrusted: remainingMs === 0, gapMs, remainingMs };
  };
}
