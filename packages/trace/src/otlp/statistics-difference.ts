import type { DropCounts, FunctionStatistics, TraceStatistics } from '../span.ts';

/** What was counted since an earlier snapshot of the same context, which was taken at `sinceUnixNano`. */
export function statisticsSince(now: TraceStatistics, before: TraceStatistics, sinceUnixNano: bigint): TraceStatistics {
  const known = new Map(before.functions.map((each) => [each.function.index, each]));
  return {
    startTimeUnixNano: sinceUnixNano,
    livePages: now.livePages,
    dropped: differences(now.dropped, before.dropped),
    functions: now.functions.map((each) => {
      const earlier = known.get(each.function.index);
      return earlier === undefined ? each : combine(each, earlier, -1);
    }),
  };
}

/** All of these together, under the first one's function. */
export function sumOf(all: readonly [FunctionStatistics, ...FunctionStatistics[]]): FunctionStatistics {
  const [first, ...rest] = all;
  return rest.reduce((sum, each) => combine(sum, each, 1), first);
}

/** Adds one to the other, or takes it away. The longest call of both is the longer one either way. */
function combine(one: FunctionStatistics, other: FunctionStatistics, sign: 1 | -1): FunctionStatistics {
  const counts = one.durations.bucketCounts;
  return {
    function: one.function,
    calls: one.calls + sign * other.calls,
    failures: one.failures + sign * other.failures,
    totalTimeNano: one.totalTimeNano + BigInt(sign) * other.totalTimeNano,
    selfTimeNano: one.selfTimeNano + BigInt(sign) * other.selfTimeNano,
    maxTimeNano: one.maxTimeNano > other.maxTimeNano ? one.maxTimeNano : other.maxTimeNano,
    grownPages: one.grownPages + sign * other.grownPages,
    durations: {
      bounds: one.durations.bounds,
      sumNano: one.durations.sumNano + BigInt(sign) * other.durations.sumNano,
      bucketCounts: counts.map((count, index) => count + sign * (other.durations.bucketCounts[index] ?? 0)),
    },
  };
}

function differences(now: DropCounts, before: DropCounts): DropCounts {
  const entries = Object.entries(now) as [keyof DropCounts, number][];
  return Object.fromEntries(entries.map(([kind, count]) => [kind, count - before[kind]])) as Record<
    keyof DropCounts,
    number
  >;
}
