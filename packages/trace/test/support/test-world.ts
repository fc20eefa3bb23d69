import type { OtlpEnvironment } from '../../src/otlp/options.ts';

/** A world for exporters in which time passes when the test says so; requests are real. */
export interface TestWorld extends OtlpEnvironment {
  /** What waits, in milliseconds from now, the soonest first. */
  readonly waits: () => number[];
  /** Lets so many milliseconds pass. */
  readonly pass: (ms: number) => void;
  /** Lets the real world go on until something has come about there. */
  readonly until: (isReached: () => boolean) => Promise<void>;
}

/** Half a minute at rest, longer where the machine is slow. */
const mostLooks = 30_000;

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
      for (let looks = 0; !isReached(); looks++) {
        if (looks === mostLooks)
          throw new Error(`Never reached: ${isReached}; what waits: ${this.waits().join(', ')} ms`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}
