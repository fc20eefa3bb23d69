import type { Attributes, AttributeValue, Span, SpanExporter } from '../span.ts';
import { spanAttributes } from '../span-attributes.ts';
import { version } from '../version.ts';
import type { BridgeApi, BridgeSpan, BridgeTracer } from './api.ts';
import { bridgeAttributes } from './attributes.ts';

/** Options of {@link openTelemetryExporter}. */
export interface BridgeOptions {
  /** The host's `@opentelemetry/api`: `import * as api from '@opentelemetry/api'`. */
  readonly api: BridgeApi;
  /** Creates the spans. Default: the global tracer `@tenon/trace`, looked up for each trace. */
  readonly tracer?: BridgeTracer | undefined;
}

/** `SpanKind.INTERNAL` and `SpanStatusCode.ERROR` of the API. */
const internalKind = 0;
const errorStatus = 2;

/**
 * Creates an exporter that passes spans to the host's OpenTelemetry SDK, with its sampler, processors and exporters. The SDK assigns
 * the ids. The parent of a root is the host's span that it names, else the span that is active when the root ends.
 */
export function openTelemetryExporter({ api, tracer }: BridgeOptions): SpanExporter {
  return {
    export(spans) {
      const maker = tracer ?? api.trace.getTracer('@tenon/trace', version);
      const contexts = new Map<string, unknown>();
      const made: { readonly span: BridgeSpan; readonly end: bigint }[] = [];
      // Parents come before children, and end after them.
      for (const span of spans) {
        const outer = contexts.get(span.parentSpanId ?? '') ?? hostContext(api, span);
        const one = startSpan(maker, span, outer);
        contexts.set(span.spanId, api.trace.setSpan(outer as never, one as never));
        made.push({ span: one, end: span.endTimeUnixNano });
      }
      for (const { span, end } of made.reverse()) span.end(hrTime(end) as never);
    },
  };
}

function startSpan(tracer: BridgeTracer, span: Span, context: unknown): BridgeSpan {
  const options = {
    kind: internalKind,
    startTime: hrTime(span.startTimeUnixNano),
    attributes: bridgeAttributes(withDropCounts(spanAttributes(span), span)),
  };
  const made = tracer.startSpan(span.name, options as never, context as never);
  for (const { name, timeUnixNano, attributes } of span.events) {
    made.addEvent(name, bridgeAttributes(attributes) as never, hrTime(timeUnixNano) as never);
  }
  if (span.status.code === 'error') made.setStatus({ code: errorStatus, message: span.status.message });
  return made;
}

/** The API has no field for these: https://opentelemetry.io/docs/specs/otel/common/mapping-to-non-otlp/#dropped-attributes-count */
function withDropCounts(attributes: Attributes, { dropped }: Span): Attributes {
  if (dropped.events + dropped.attributes === 0) return attributes;
  const all = new Map<string, AttributeValue>(attributes);
  if (dropped.attributes > 0) all.set('otel.dropped_attributes_count', dropped.attributes);
  if (dropped.events > 0) all.set('otel.dropped_events_count', dropped.events);
  return all;
}

/** The parent context of a root. */
function hostContext(api: BridgeApi, { traceId, parentSpanId, traceFlags, traceState }: Span): unknown {
  const active = api.context.active();
  if (parentSpanId === undefined) return active;
  // Prefer the active span itself to its ids.
  if (api.trace.getSpanContext(active as never)?.spanId === parentSpanId) return active;
  const state = traceState === undefined ? {} : { traceState: api.createTraceState(traceState) };
  const parent = { traceId, spanId: parentSpanId, traceFlags, isRemote: true, ...state };
  return api.trace.setSpanContext(api.ROOT_CONTEXT as never, parent as never);
}

/** Seconds and nanoseconds, the API's lossless time. */
function hrTime(unixNano: bigint): [seconds: number, nano: number] {
  return [Number(unixNano / 1_000_000_000n), Number(unixNano % 1_000_000_000n)];
}
