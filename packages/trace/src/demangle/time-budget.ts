/** Counts the time that slow work has taken, so that it can be left once it has taken too much. */
export interface TimeBudget {
  readonly isSpent: () => boolean;
  /** Adds the time since `startMs`, a value of `now`. */
  readonly charge: (sinceMs: number) => void;
}

/**
 * @param now a clock in milliseconds that never goes back
 * @param allowanceMs what may be taken at once
 * @param share how much of all time may be taken in the long run, from 0 to 1
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
