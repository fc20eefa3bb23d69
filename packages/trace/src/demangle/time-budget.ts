/** Limits the time of slow work. */
export interface TimeBudget {
  readonly isSpent: () => boolean;
  /** Adds the time since `sinceMs`, a value of `now`. */
  readonly charge: (sinceMs: number) => void;
}

/**
 * @param now a monotonic clock in milliseconds
 * @param allowanceMs the maximum burst
 * @param share the maximum share of all time in the long run, from 0 to 1
 */
export function createTimeBudget(now: () => number, allowanceMs: number, share: number): TimeBudget {
  let takenMs = 0;
  let countedUntilMs = now();

  /** Time that has passed gives some back. */
  function settle(): void {
    const nowMs = now();
    takenMs = Math.max(0, takenMs - (nowMs - countedUntilMs) * share);
    countedUntilMs = nowMs;
  }

  return {
    isSpent() {
      settle();
      return takenMs >= allowanceMs;
    },
    charge(sinceMs) {
      settle();
      takenMs += countedUntilMs - sinceMs;
    },
  };
}
