/** The source of time. Pass your own in tests, or if the host has a better one. */
export interface TraceClock {
  /** Milliseconds since some fixed moment, as finely as the host tells; never goes back. Called twice per traced call. */
  readonly now: () => number;
  /** Milliseconds since 1970-01-01 UTC, as `Date.now()`. Called about once per trace. */
  readonly wallNow: () => number;
  /** Milliseconds since 1970-01-01 UTC at which `now()` was 0, if the host knows. Default: found out from the other two. */
  readonly timeOrigin?: number | undefined;
}

/** The host's own clock: `performance.now()`, which ticks in 5 µs or less where a page is cross-origin isolated. */
export function systemClock(): TraceClock {
  const { performance } = globalThis as unknown as { performance: { now(): number; timeOrigin?: number } };
  return { now: () => performance.now(), wallNow: () => Date.now(), timeOrigin: performance.timeOrigin };
}

/** Turns readings of the clock into nanoseconds since 1970. */
export interface Anchor {
  /** Nanoseconds since 1970-01-01 UTC at which `now()` was 0. */
  readonly originUnixNano: () => bigint;
}

/**
 * How far the two clocks may part before the wall clock is believed. The monotonic one doesn't follow corrections of the
 * wall clock, and stands still while some machines sleep; the wall clock has only whole milliseconds.
 */
const toleranceMs = 10;

export function createAnchor({ now, wallNow, timeOrigin }: TraceClock): Anchor {
  let originMs = Number.isFinite(timeOrigin) ? (timeOrigin as number) : wallNow() - now();
  let originNano = toNano(originMs);
  return {
    originUnixNano() {
      const foundMs = wallNow() - now();
      if (Math.abs(foundMs - originMs) > toleranceMs) {
        originMs = foundMs;
        originNano = toNano(foundMs);
      }
      return originNano;
    },
  };
}

/**
 * Milliseconds as whole nanoseconds. The whole milliseconds are taken apart first, since a double can't hold today's time in
 * nanoseconds exactly.
 */
export function toNano(ms: number): bigint {
  const wholeMs = Math.trunc(ms);
  return BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6));
}
