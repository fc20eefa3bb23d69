import type { TraceContext } from '@tenon/trace';

/** The calls and times of one function in one run. */
export interface FunctionRun {
  readonly index: number;
  readonly calls: number;
  readonly totalNano: number;
  readonly selfNano: number;
}

/** Returns a function that returns the calls and times since its last call. */
export function createRunCounter(context: TraceContext): () => readonly FunctionRun[] {
  const before = new Map<number, FunctionRun>();
  return () =>
    context.statistics().functions.flatMap((entry): FunctionRun[] => {
      const { index } = entry.function;
      const { calls, totalTimeNano, selfTimeNano } = entry;
      const counted = { index, calls, totalNano: Number(totalTimeNano), selfNano: Number(selfTimeNano) };
      const last = before.get(index) ?? { calls: 0, totalNano: 0, selfNano: 0 };
      before.set(index, counted);
      if (calls === last.calls) return [];
      const [totalNano, selfNano] = [counted.totalNano - last.totalNano, counted.selfNano - last.selfNano];
      return [{ index, calls: calls - last.calls, totalNano, selfNano }];
    });
}
