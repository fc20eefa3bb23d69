import type { Clock } from '../../db/store.ts';

/** Lets each key do so much in the long run, and more at once if it did less before. */
export interface RateLimiter {
  /** Counts one. @returns 0, or when it is one too many, in how many seconds to try again. */
  take(key: string): number;
  /** Takes one back that was counted. */
  give(key: string): void;
}

/** When there are more keys, the limiter deletes idle ones. */
const maxKeys = 100_000;

/**
 * A rate limiter with the generic cell rate algorithm (GCRA), a form of the token bucket. It stores one number per key: the theoretical
 * arrival time. It needs no timers, and has no windows at whose borders a client could send twice as much.
 *
 * @param perSecond the sustained rate per key
 * @param burst the maximum burst per key
 */
export function createRateLimiter(perSecond: number, burst: number, clock: Clock): RateLimiter {
  const costMs = 1000 / perSecond;
  const arrivalTimes = new Map<string, number>();

  const waitMs = (key: string, nowMs: number): number => {
    const arrivalMs = Math.max(nowMs, arrivalTimes.get(key) ?? 0);
    return Math.max(0, arrivalMs + costMs - (nowMs + burst * costMs));
  };
  const deleteIdle = (nowMs: number): void => {
    for (const [key, arrivalMs] of arrivalTimes) if (arrivalMs <= nowMs) arrivalTimes.delete(key);
    // If no key is idle, deleting the oldest ones does less harm than unbounded growth.
    for (const key of arrivalTimes.keys()) {
      if (arrivalTimes.size < maxKeys) break;
      arrivalTimes.delete(key);
    }
  };
  return {
    take(key) {
      const nowMs = clock();
      const wait = waitMs(key, nowMs);
      if (wait > 0) return Math.ceil(wait / 1000);
      if (arrivalTimes.size >= maxKeys) deleteIdle(nowMs);
      arrivalTimes.set(key, Math.max(nowMs, arrivalTimes.get(key) ?? 0) + costMs);
      return 0;
    },
    give(key) {
      const arrivalMs = arrivalTimes.get(key);
      if (arrivalMs !== undefined) arrivalTimes.set(key, arrivalMs - costMs);
    },
  };
}
