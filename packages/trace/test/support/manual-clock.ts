import type { TraceClock } from '../../src/index.ts';

/** A clock that stands still until it is moved on. */
export interface ManualClock extends TraceClock {
  /** Nanoseconds since the clock's beginning. */
  readonly nowNs: () => number;
  readonly moveNs: (ns: number) => void;
  /** The clock's beginning, in nanoseconds since 1970-01-01 UTC. */
  readonly originUnixNano: bigint;
}

/** 2026-07-14 in milliseconds: so large that a double has no room for its nanoseconds. */
const originMs = 1_784_000_000_123;

export function createManualClock(): ManualClock {
  let ns = 5_000_000;
  return {
    now: () => ns / 1e6,
    wallNow: () => originMs + Math.floor(ns / 1e6),
    timeOrigin: originMs,
    nowNs: () => ns,
    moveNs(by) {
      ns += by;
    },
    originUnixNano: BigInt(originMs) * 1_000_000n,
  };
}
