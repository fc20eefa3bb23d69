import type { CallNode } from '../../../../test/helpers/call-trees/model.ts';

/** A span as it has to come out, without what is random. Times are nanoseconds on the clock of the test. */
export interface ExpectedSpan {
  readonly index: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly selfNs: number;
  readonly folded: { readonly calls: number; readonly timeNs: number };
  readonly grownPages: number;
  readonly growths: readonly { readonly timeNs: number; readonly pages: number }[];
  readonly failed: boolean;
  readonly spans: readonly ExpectedSpan[];
}

/**
 * What the spans of a root have to be, by the words of the interface and of `span.ts`: written to be read, with nothing in
 * common with how the adapter finds it out.
 */
export function expectedSpan(node: CallNode, timeNs: (tick: number) => number, minDurationNs: number): ExpectedSpan {
  const durationNs = ({ startTick, endTick }: CallNode) => timeNs(endTick) - timeNs(startTick);
  const [spans, folded] = partition(node.calls, (call) => durationNs(call) >= minDurationNs);
  const within = [node, ...folded.flatMap(withAllWithin)];
  const growths = within
    .flatMap((call) => call.growths)
    .sort((first, second) => first.tick - second.tick)
    .map(({ tick, pages }) => ({ timeNs: timeNs(tick), pages }));
  return {
    index: node.index,
    startNs: timeNs(node.startTick),
    endNs: timeNs(node.endTick),
    selfNs: durationNs(node) - sum(spans.map(durationNs)),
    folded: { calls: within.length - 1, timeNs: sum(folded.map(durationNs)) },
    grownPages: sum(growths.map(({ pages }) => pages)),
    growths,
    failed: node.ending !== 'exit',
    spans: spans.map((call) => expectedSpan(call, timeNs, minDurationNs)),
  };
}

/** A call and all calls within it. */
export function withAllWithin(node: CallNode): CallNode[] {
  return [node, ...node.calls.flatMap(withAllWithin)];
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
