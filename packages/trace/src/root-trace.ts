import type { RootTrace } from './call-stack.ts';
import { messageOf } from './delivery.ts';
import { TraceError } from './errors.ts';
import type { ParentSource, TraceOptions } from './options.ts';
import { parseTraceParent, type SpanContext } from './trace-parent.ts';

/** The trace of a root that lies in this span of the host, or of one that begins a trace. */
export function rootTrace(parent: SpanContext | undefined, newTraceId: () => string): RootTrace {
  if (parent === undefined) {
    return { traceId: newTraceId(), parentSpanId: undefined, traceFlags: 1, traceState: undefined };
  }
  const { traceId, spanId, traceFlags, traceState } = parent;
  return { traceId, parentSpanId: spanId, traceFlags, traceState };
}

/** The span that a host names as the parent; `undefined` where it names none, or not rightly. */
export function resolveParent(given: ParentSource): SpanContext | undefined {
  if (given === undefined || given === null) return undefined;
  return typeof given === 'string' ? parseTraceParent(given) : parseTraceParent(given.traceparent, given.tracestate);
}

/** The same of the option, which may be a function of the host's, and fail. */
export function askForParent(
  source: TraceOptions['parent'],
  report: (error: TraceError) => void,
): SpanContext | undefined {
  try {
    return resolveParent(typeof source === 'function' ? source() : source);
  } catch (cause) {
    report(new TraceError('invalid_option', `The option parent failed: ${messageOf(cause)}`, { cause }));
    return undefined;
  }
}
