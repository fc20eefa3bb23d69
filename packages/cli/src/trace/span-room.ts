import type { Span } from '@tenon/trace';

/** Takes the spans of one run, as many as there is room for. */
export interface SpanRoom {
  /** Takes those of a root that has ended, the first of them the root's; tells for how many there was no room. */
  readonly take: (batch: readonly Span[]) => number;
  readonly spans: readonly Span[];
  /** What all roots took, in nanoseconds. */
  readonly rootNano: () => number;
}

/**
 * The adapter's own limit is for each root. A run can have a million of those: each call of an allocator is one where nothing else is
 * traced, and a root has a span however short.
 */
export function createSpanRoom(maxSpans: number): SpanRoom {
  const spans: Span[] = [];
  let rootNano = 0;
  return {
    take(batch) {
      const [root] = batch;
      if (root !== undefined) rootNano += Number(root.endTimeUnixNano - root.startTimeUnixNano);
      const taken = Math.min(batch.length, maxSpans - spans.length);
      // Parents come before children: what is kept of a root holds together.
      for (let index = 0; index < taken; index++) spans.push(batch[index] as Span);
      return batch.length - taken;
    },
    spans,
    rootNano: () => rootNano,
  };
}
