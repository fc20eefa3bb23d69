import type { Span } from '@tenon/trace';

/** The spans of one run, up to a limit. */
export interface SpanStore {
  /** Adds the spans of a root that has ended, the root's first. */
  readonly add: (batch: readonly Span[]) => void;
  readonly spans: readonly Span[];
  /** Nanoseconds that all roots took together. */
  readonly rootNano: () => number;
  readonly dropped: () => number;
}

/**
 * Creates a store. The adapter's own limit applies to each root, and a run can have a million: each call of an allocator
 * is a root if nothing else is traced.
 */
export function createSpanStore(maxSpans: number): SpanStore {
  const spans: Span[] = [];
  let rootNano = 0;
  let dropped = 0;
  return {
    add(batch) {
      const [root] = batch;
      if (root !== undefined) rootNano += Number(root.endTimeUnixNano - root.startTimeUnixNano);
      const added = Math.min(batch.length, maxSpans - spans.length);
      // Parents come before children, so the stored spans of a root are connected.
      for (let index = 0; index < added; index++) spans.push(batch[index] as Span);
      dropped += batch.length - added;
    },
    spans,
    rootNano: () => rootNano,
    dropped: () => dropped,
  };
}
