import type { RunFigures } from '@tenon/run-kit';
import type { TraceStatistics } from '@tenon/trace';

/** The spread of a number over several runs. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

/** Nanoseconds of one function in each run; 0 for runs that didn't call it. */
export interface FunctionSpread {
  readonly name: string;
  readonly index: number;
  /** Of all runs. */
  readonly calls: number;
  readonly total: Spread;
  readonly self: Spread;
}

/** The summary of several runs. */
export interface RepeatSummary {
  readonly runs: number;
  /** Nanoseconds of a whole run, within traced calls. */
  readonly timeNano: Spread;
  /** By the median of their self time, most first. */
  readonly functions: readonly FunctionSpread[];
}

/** Percentiles by the nearest-rank method. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { min: sorted[0] ?? 0, median: at(0.5), p95: at(0.95), max: sorted.at(-1) ?? 0 };
}

/** Summarises several runs. */
export function summarize(runs: readonly RunFigures[], statistics: TraceStatistics): RepeatSummary {
  const names = new Map(statistics.functions.map((entry) => [entry.function.index, entry.function.name]));
  const byFunction = new Map<number, { calls: number; total: number[]; self: number[] }>();
  for (const { functions } of runs) {
    for (const { index, calls, totalNano, selfNano } of functions) {
      const entry = byFunction.get(index) ?? { calls: 0, total: [], self: [] };
      byFunction.set(index, entry);
      entry.calls += calls;
      entry.total.push(totalNano);
      entry.self.push(selfNano);
    }
  }
  const functions = [...byFunction].map(([index, { calls, total, self }]): FunctionSpread => {
    const absent = Array.from({ length: runs.length - total.length }, () => 0);
    return {
      name: names.get(index) ?? `func[${index}]`,
      index,
      calls,
      total: spreadOf([...absent, ...total]),
      self: spreadOf([...absent, ...self]),
    };
  });
  functions.sort((a, b) => b.self.median - a.self.median || b.total.median - a.total.median || a.index - b.index);
  return { runs: runs.length, timeNano: spreadOf(runs.map(({ timeNano }) => timeNano)), functions };
}
