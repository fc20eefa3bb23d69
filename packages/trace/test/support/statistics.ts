import type { DropCounts, FunctionStatistics, TraceStatistics } from '../../src/span.ts';
import { someTimeUnixNano } from './make-span.ts';

/** How a test writes what the calls of a function came to: times in nanoseconds, all else 0. */
export interface StatisticsPlan {
  readonly index: number;
  readonly name?: string;
  readonly rawName?: string;
  readonly calls?: number;
  readonly failures?: number;
  readonly total?: bigint;
  readonly self?: bigint;
  readonly max?: bigint;
  readonly pages?: number;
  /** Of all durations. Default: `total`, as without recursion. */
  readonly sum?: bigint;
  /** How many calls took up to 1,000, up to 1,000,000 and more nanoseconds. */
  readonly durations?: readonly [number, number, number];
}

/** Statistics that were counted from {@link someTimeUnixNano} on. */
export function statisticsOf(plans: readonly StatisticsPlan[], dropped: Partial<DropCounts>): TraceStatistics {
  const none = { spans: 0, depth: 0, events: 0, attributes: 0, functions: 0, unmatched: 0, exports: 0 };
  return { functions: plans.map(functionOf), dropped: { ...none, ...dropped }, startTimeUnixNano: someTimeUnixNano };
}

function functionOf(plan: StatisticsPlan): FunctionStatistics {
  const {
    index,
    calls = 0,
    failures = 0,
    total = 0n,
    self = 0n,
    max = 0n,
    pages = 0,
    durations = [calls, 0, 0],
    sum = total,
  } = plan;
  const { name = `f${index}`, rawName = name } = plan;
  return {
    function: { index, name, rawName },
    calls,
    failures,
    totalTimeNano: total,
    selfTimeNano: self,
    maxTimeNano: max,
    grownPages: pages,
    durations: { bounds: [1_000, 1_000_000], bucketCounts: durations, sumNano: sum },
  };
}
