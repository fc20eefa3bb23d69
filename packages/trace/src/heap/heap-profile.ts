import type { TracedFunction } from '../span.ts';

/** Numbers of allocations and bytes. A reallocation counts as an allocation and a free. */
export interface HeapCounts {
  readonly allocations: number;
  readonly allocatedBytes: number;
  /** Allocations that were not freed. At the end of a program, these are leaks. */
  readonly liveAllocations: number;
  readonly liveBytes: number;
}

/** The allocations of an instance, or of all instances. */
export interface HeapTotals extends HeapCounts {
  readonly frees: number;
  readonly freedBytes: number;
  /** Calls that returned no memory. */
  readonly failures: number;
  /** Frees of pointers without a known allocation. */
  readonly unknownFrees: number;
  /** The largest number of live bytes. */
  readonly peakBytes: number;
  /** When the first such peak ended, in nanoseconds since 1970-01-01 UTC; `undefined` without allocations. */
  readonly peakTimeUnixNano: bigint | undefined;
}

/** The allocations of one call path. */
export interface HeapPath extends HeapCounts {
  /** The calls that were open, outermost first, and the allocator. Of more than 128, the innermost ones. */
  readonly path: readonly TracedFunction[];
}

/** What the allocators of a module did since the start. */
export interface HeapProfile extends HeapTotals {
  readonly paths: readonly HeapPath[];
  /** In the order of their first allocation; at most 1,000. */
  readonly instances: readonly HeapTotals[];
  readonly dropped: {
    /** Allocations beyond the limit, which are not counted elsewhere. */
    readonly allocations: number;
    /** Calls whose path was shortened, because there are too many paths. */
    readonly paths: number;
  };
}
