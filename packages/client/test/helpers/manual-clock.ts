import type { Clock } from '../../src/clock.ts';

/** A clock that tests advance. */
export interface ManualClock extends Clock {
  /** Advances the time and calls the elapsed timers in order. */
  pass(ms: number): void;
  /** Sets the wall clock. No time passes. */
  setWall(ms: number): void;
  /** The number of pending timers. */
  readonly timers: number;
}

export function createManualClock(): ManualClock {
  let nowMs = 5_000;
  let wallAheadMs = Date.UTC(2026, 0, 1);
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs + wallAheadMs,
    setTimer(callback, delayMs) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.callback();
      }
      nowMs = untilMs;
    },
    setWall(ms) {
      wallAheadMs = ms - nowMs;
    },
    get timers() {
      return timers.size;
    },
  };
}

/** Waits until all work in progress waits for a timer or for the test. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until the condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}
