import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Lets time pass; timers whose time has come are called, in their order. */
  pass(ms: number): void;
  /** Sets the wall clock, as a person does: no time passes. */
  setWall(ms: number): void;
  /** Timers that wait. */
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

/** Until all that is under way waits for a timer or for what the test holds back. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Until something is so that happens by itself, however long that takes. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}
