import type { DropCounts, FunctionStatistics, TraceStatistics } from '../../src/span.ts';

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
}

export function statisticsOf(plans: readonly StatisticsPlan[], dropped: Partial<DropCounts>): TraceStatistics {
  const none = { spans: 0, depth: 0, events: 0, attributes: 0, functions: 0, unmatched: 0, exports: 0 };
  return { functions: plans.map(functionOf), dropped: { ...none, ...dropped } };
}

function functionOf(plan: StatisticsPlan): FunctionStatistics {
  const { index, calls = 0, failures = 0, total = 0n, self = 0n, max = 0n, pages = 0 } = plan;
  const { name = `f${index}`, rawName = name } = plan;
  return {
    function: { index, name, rawName },
    calls,
    untimedCalls: 0,
    failures,
    totalTimeNano: total,
    selfTimeNano: self,
    maxTimeNano: max,
    grownPages: pages,
  };
}
