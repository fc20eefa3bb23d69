import type { CallNode } from '../../../../test/helpers/call-trees/model.ts';

/** What the statistics of one function have to say. */
export interface ExpectedStatistics {
  readonly index: number;
  readonly calls: number;
  readonly failures: number;
  readonly totalNs: number;
  readonly selfNs: number;
  readonly maxNs: number;
  readonly grownPages: number;
}

/** Adds up a forest by function, in the order of the indices. */
export function expectedStatistics(roots: readonly CallNode[], timeNs: (tick: number) => number): ExpectedStatistics[] {
  const found = new Map<number, { -readonly [Key in keyof ExpectedStatistics]: ExpectedStatistics[Key] }>();
  const durationNs = ({ startTick, endTick }: CallNode) => timeNs(endTick) - timeNs(startTick);
  const visit = (node: CallNode, around: readonly number[]): void => {
    const { index } = node;
    const none = { calls: 0, failures: 0, totalNs: 0, selfNs: 0, maxNs: 0, grownPages: 0 };
    const row = found.get(index) ?? { index, ...none };
    found.set(index, row);
    const duration = durationNs(node);
    row.calls++;
    if (node.ending !== 'exit') row.failures++;
    if (!around.includes(index)) row.totalNs += duration;
    row.selfNs += node.calls.reduce((rest, call) => rest - durationNs(call), duration);
    row.maxNs = Math.max(row.maxNs, duration);
    for (const { pages } of node.growths) row.grownPages += pages;
    for (const call of node.calls) visit(call, [...around, index]);
  };
  for (const root of roots) visit(root, []);
  return [...found.values()].sort((first, second) => first.index - second.index);
}
