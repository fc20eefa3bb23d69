import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, AttributeValue, SpanContext } from '@tenon/trace';
import type { HostSpan } from '@tenon/trace/otlp';
import type { RandomBytes } from '../../db/store.ts';
import { DomainError } from '../../http/domain-errors.ts';

/** A running span. Times are those of `performance.now()`. */
export interface ActiveSpan {
  readonly traceId: string;
  readonly spanId: string;
  rename(name: string): void;
  /** Sets an attribute. It must not contain client data other than the request id: no path, token, code, or guest key. */
  set(key: string, value: AttributeValue): void;
  /** Marks the span as failed. Error messages are left out, because they may contain private data. */
  fail(errorType: string): void;
  /** Ends the span, by default now. Later calls do nothing. */
  end(atMs?: number): void;
  /** Ends the span without exporting it. */
  discard(): void;
}

export interface SpanOptions {
  readonly kind: HostSpan['kind'];
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  /** Default: now. */
  readonly startMs?: number;
}

/** Creates spans. The current span follows the control flow through every `await`. */
export type Tracer = ReturnType<typeof createTracer>;

interface TracerOptions {
  readonly random: RandomBytes;
  readonly export: (span: HostSpan) => void;
  /** The maximum number of spans below a trace's first one. The first one has the number of omitted spans. */
  readonly maxSpans: number;
}

interface Trace {
  readonly id: string;
  readonly traceState: string | undefined;
  readonly originMs: number;
  spans: number;
  omitted: number;
}

interface InternalSpan extends ActiveSpan {
  readonly trace: Trace;
}

const sampled = 1;
const noEvents: HostSpan['events'] = [];
const unset: HostSpan['status'] = { code: 'unset', message: '' };
const failed: HostSpan['status'] = { code: 'error', message: '' };

export function createTracer({ random, export: send, maxSpans }: TracerOptions) {
  const current = new AsyncLocalStorage<InternalSpan | undefined>();
  const originMs = createOrigin();
  const newId = (bytes: number): string => Buffer.from(random(bytes)).toString('hex');

  const create = (name: string, options: SpanOptions, trace: Trace, parentSpanId: string | undefined): InternalSpan => {
    const { kind, attributes = {}, startMs = performance.now() } = options;
    const spanId = newId(8);
    const own = new Map(Object.entries(attributes));
    const isFirst = trace.spans === 0;
    let status = unset;
    let hasEnded = false;
    trace.spans++;
    return {
      trace,
      traceId: trace.id,
      spanId,
      rename(to) {
        name = to;
      },
      set(key, value) {
        own.set(key, value);
      },
      fail(errorType) {
        own.set('error.type', errorType);
        status = failed;
      },
      end(atMs = performance.now()) {
        if (hasEnded) return;
        hasEnded = true;
        if (isFirst && trace.omitted > 0) own.set('tenon.dropped_spans', trace.omitted);
        send({
          traceId: trace.id,
          spanId,
          parentSpanId,
          traceFlags: sampled,
          traceState: trace.traceState,
          name,
          kind,
          startTimeUnixNano: toNano(trace.originMs + startMs),
          endTimeUnixNano: toNano(trace.originMs + Math.max(startMs, atMs)),
          status,
          attributes: own as Attributes,
          events: noEvents,
          dropped: { events: 0, attributes: 0 },
        });
      },
      discard() {
        hasEnded = true;
      },
    };
  };

  const begin = (name: string, options: SpanOptions): ActiveSpan | undefined => {
    const parent = current.getStore();
    if (parent === undefined) return undefined;
    const { trace } = parent;
    if (trace.spans <= maxSpans) return create(name, options, trace, parent.spanId);
    trace.omitted++;
    return undefined;
  };

  return {
    /** Begins a trace, or continues that of the caller. */
    beginTrace(name: string, options: SpanOptions, parent: SpanContext | undefined): ActiveSpan {
      const id = parent?.traceId ?? newId(16);
      const trace = { id, traceState: parent?.traceState, originMs: originMs(), spans: 0, omitted: 0 };
      return create(name, options, trace, parent?.spanId);
    },
    /** Whether there is a current span. */
    isTracing: (): boolean => current.getStore() !== undefined,
    /** Begins a child of the current span. Returns `undefined` without a current span, and when the trace has too many spans. */
    begin,
    /** Runs the work with a current span; with none for `undefined`. */
    run: <T>(span: ActiveSpan | undefined, work: () => T): T => current.run(span as InternalSpan | undefined, work),
    /** Runs the work in a child of the current span, if {@link begin} returns one. The span fails if the work throws. */
    within<T>(name: string, options: SpanOptions, work: (span: ActiveSpan | undefined) => Promise<T>): Promise<T> {
      const span = begin(name, options);
      return span === undefined ? work(span) : finish(span, () => current.run(span as InternalSpan, work, span));
    },
  };
}

async function finish<T>(span: ActiveSpan, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.fail(errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Returns the type of an error in a span: the code of a `DomainError`, otherwise the name of the class. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  return error instanceof Error ? error.constructor.name : 'unknown';
}

/** How far the two clocks may diverge before the origin is adjusted, in milliseconds. */
const toleranceMs = 10;

/**
 * Returns a function for the Unix time at which `performance.now()` was 0. The monotonic clock has a better resolution, but it ignores
 * corrections of the wall clock, and stops on some machines while they sleep.
 */
export function createOrigin(
  now: () => number = () => performance.now(),
  wallNow: () => number = Date.now,
): () => number {
  let originMs = wallNow() - now();
  return () => {
    const foundMs = wallNow() - now();
    if (Math.abs(foundMs - originMs) > toleranceMs) originMs = foundMs;
    return originMs;
  };
}

/** Converts milliseconds to nanoseconds, in two parts, because a double can't represent the current time in nanoseconds. */
export function toNano(ms: number): bigint {
  const wholeMs = Math.trunc(ms);
  return BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6));
}
