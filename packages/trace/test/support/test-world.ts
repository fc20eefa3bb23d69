import type { OtlpEnvironment } from '../../src/otlp/options.ts';

/** A world for exporters in which time passes when the test says so; requests are real. */
export interface TestWorld extends OtlpEnvironment {
  /** What waits, in milliseconds from now, the soonest first. */
  readonly waits: () => number[];
  /** Lets so many milliseconds pass. */
  readonly pass: (ms: number) => void;
  /** Waits, for real, until something else than a time-out of the same length waits: an exporter that has come to a pause. */
  readonly until: (isReached: () => boolean) => Promise<void>;
}

/** Begins at 2026-09-21T14:13:20Z; chance is always in the middle. */
export function createTestWorld(): TestWorld {
  let now = 1_790_000_000_000;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    fetch,
    now: () => now,
    random: () => 0.5,
    schedule(callback, delayMs) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    waits: () => [...timers].map(({ at }) => at - now).sort((one, other) => one - other),
    pass(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        if (timers.delete(timer)) timer.callback();
      }
    },
    async until(isReached) {
      while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 1));
    },
  };
}
