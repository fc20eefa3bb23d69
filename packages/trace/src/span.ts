/** The attribute values of OpenTelemetry that spans here can have: no null, bytes, or maps. */
export type AttributeValue = string | number | boolean | bigint | readonly (string | number | boolean)[];

/** Attributes by name. A `Map`, since names come from plugins and may be `__proto__`. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Something that happened at one moment within a span. */
export interface SpanEvent {
  /** `memory.grow`, `log`, or the name that the plugin's author chose. */
  readonly name: string;
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly timeUnixNano: bigint;
  readonly attributes: Attributes;
}

/** The function whose call a span shows. */
export interface TracedFunction {
  /** Its index in the instrumented module, imports included: the argument of `enter`. */
  readonly index: number;
  /** The name in the `name` section; `func[INDEX]` without one. */
  readonly rawName: string;
  /** The name as people write it: demangled where it was mangled, else `rawName`. */
  readonly name: string;
  /** The source file that declares it, if the option `source` finds it. */
  readonly file?: string | undefined;
  /** The line of its declaration. The first line is 1. */
  readonly line?: number | undefined;
}

/** How a span ended. OpenTelemetry's `Ok` is for applications to set, so no span has it. */
export interface SpanStatus {
  readonly code: 'unset' | 'error';
  /** Why it failed; empty where it didn't. */
  readonly message: string;
}

/** Calls within a span that have no span of their own because they were shorter than the minimum. */
export interface FoldedCalls {
  /** How many, calls within such calls included. */
  readonly calls: number;
  /** Nanoseconds that they took altogether; those within others count once. */
  readonly timeNano: bigint;
}

/** A call of a function, or a manual span of the plugin. */
export interface Span {
  /** 32 lower-case hexadecimal digits, not all zero: https://www.w3.org/TR/trace-context/#trace-id */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** The span that this one lies in: of the same module, or the host's own. `undefined` begins a trace. */
  readonly parentSpanId: string | undefined;
  /** The flags of W3C trace context: bit 0 is `sampled`. */
  readonly traceFlags: number;
  /** The host's `tracestate`, handed on as it came. */
  readonly traceState: string | undefined;
  /** The function's name as people write it, or the author's for a manual span. */
  readonly name: string;
  /** `undefined` for a manual span. */
  readonly function: TracedFunction | undefined;
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly startTimeUnixNano: bigint;
  /** Nanoseconds since 1970-01-01 UTC; never before the start. */
  readonly endTimeUnixNano: bigint;
  /** Nanoseconds without those of the spans directly within this one; the time of folded calls is in it. */
  readonly selfTimeNano: bigint;
  readonly folded: FoldedCalls;
  /** 64 KiB pages by which memories grew within this span and its folded calls, but not in the spans within it. */
  readonly grownPages: number;
  readonly status: SpanStatus;
  /** Attributes of the plugin (`span-tags`) and of the host. */
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** How many events and attributes were dropped, since there were too many. */
  readonly dropped: { readonly events: number; readonly attributes: number };
}

/** Delivers spans. Each batch is one finished root and all the spans under it, parents before children, by start. */
export interface SpanExporter {
  /** Errors never reach the traced program: they are counted, and `onError` of the context receives them. */
  export(spans: readonly Span[]): void | Promise<void>;
  /** Exports the spans that are still queued. */
  flush?(): Promise<void>;
  /** Flushes, and accepts no more spans. */
  shutdown?(): Promise<void>;
}

/** The calls of one function, folded calls included. */
export interface FunctionStatistics {
  readonly function: TracedFunction;
  readonly calls: number;
  /**
   * The calls among them that adaptive tracing only counted, because this function's calls are short. Their time counts for
   * their callers.
   */
  readonly untimedCalls: number;
  /** Calls that ended with a trap or an exception. */
  readonly failures: number;
  /** Nanoseconds in the function and its callees; recursive calls count once. */
  readonly totalTimeNano: bigint;
  /** Nanoseconds in the function without traced callees. */
  readonly selfTimeNano: bigint;
  /** The longest single call, in nanoseconds. */
  readonly maxTimeNano: bigint;
  /** Pages of memory growth in the function itself. */
  readonly grownPages: number;
}

/** Numbers of dropped items. */
export interface DropCounts {
  /** Spans beyond the limit of their root. */
  readonly spans: number;
  /** Calls beyond the maximum depth. */
  readonly depth: number;
  readonly events: number;
  readonly attributes: number;
  /** Calls of functions beyond the maximum, or with invalid indices. */
  readonly functions: number;
  /** Exits without their enter, and enters without their exit. */
  readonly unmatched: number;
  /** Batches that an exporter failed to export. */
  readonly exports: number;
}

/** A snapshot of everything counted since the start. */
export interface TraceStatistics {
  readonly functions: readonly FunctionStatistics[];
  readonly dropped: DropCounts;
  /**
   * The current size, in pages of 64 KiB, of all memories that traced instances export or that were passed to `instantiate()`.
   * Memories that the engine has garbage-collected don't count. `undefined` if there are no memories.
   */
  readonly livePages?: number | undefined;
}
