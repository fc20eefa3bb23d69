import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, AttributeValue, SpanContext } from '@tenon/trace';
import type { HostSpan } from '@tenon/trace/otlp';
import type { RandomBytes } from '../../db/store.ts';
import { DomainError } from '../../http/domain-errors.ts';

/** A stretch of work that is traced. Times are `performance.now()`'s. */
export interface ActiveSpan {
  readonly traceId: string;
  readonly spanId: string;
  rename(name: string): void;
  /** Nothing of a client's goes into an attribute but the request id: no path, no token, no code, no guest key. */
  set(key: string, value: AttributeValue): void;
  /** Says that the work failed, and as what. Messages of errors stay out: they may tell what is private. */
  fail(errorType: string): void;
  /** Ends the work, now unless another time is given. Called again it does nothing. */
  end(atMs?: number): void;
  /** Ends it without being told of. */
  discard(): void;
}

export interface SpanOptions {
  readonly kind: HostSpan['kind'];
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  /** Default: now. */
  readonly startMs?: number;
}

/** Makes spans within spans. Which span the work belongs to that runs goes along with it through every `await`. */
export type Tracer = ReturnType<typeof createTracer>;

interface TracerOptions {
  readonly random: RandomBytes;
  readonly export: (span: HostSpan) => void;
  /** How many spans a trace may have within its first one; what comes beyond is counted there. */
  readonly maxSpans: number;
}

interface Trace {
  readonly id: string;
  readonly traceState: string | undefined;
  readonly originMs: number;
  spans: number;
  leftOut: number;
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
        if (isFirst && trace.leftOut > 0) own.set('tenon.spans_left_out', trace.leftOut);
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
    trace.leftOut++;
    return undefined;
  };

  return {
    /** Begins a trace here, or goes on with that of the caller. */
    beginTrace(name: string, options: SpanOptions, parent: SpanContext | undefined): ActiveSpan {
      const id = parent?.traceId ?? newId(16);
      const trace = { id, traceState: parent?.traceState, originMs: originMs(), spans: 0, leftOut: 0 };
      return create(name, options, trace, parent?.spanId);
    },
    /** Whether what runs now belongs to a span. */
    isTracing: (): boolean => current.getStore() !== undefined,
    /** Begins a span within the current one; `undefined` where nothing is traced, or the trace has too many already. */
    begin,
    /** Runs the work within a span; within none, where `undefined` is given. */
    run: <T>(span: ActiveSpan | undefined, work: () => T): T => current.run(span as InternalSpan | undefined, work),
    /** Runs the work within a span of its own, if it gets one. An error that it throws is the span's. */
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

/** What an error is called in a span: the code of one of ours, else the name of its class. Its message may tell what is private. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  return error instanceof Error ? error.constructor.name : 'unknown';
}

/**
 * How far the monotonic clock and the wall clock may part before the latter is believed, in milliseconds: the former doesn't follow
 * corrections, and stands still while some machines sleep; the latter has only whole milliseconds.
 */
const toleranceMs = 10;

/** @returns what tells milliseconds since 1970 at which `performance.now()` was 0 */
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

/** Milliseconds as nanoseconds: the whole ones first, since a double can't hold today's time in nanoseconds. */
export function toNano(ms: number): bigint {
  const wholeMs = Math.trunc(ms);
  return BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6));
}
