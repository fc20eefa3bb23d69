import type { Span } from '../span.ts';
import { spanAttributes } from '../span-attributes.ts';
import { attributeMessages } from './attributes.ts';
import { encodeJson, encodeProtobuf } from './encode.ts';
import type { EventMessage, SpanMessage, TraceRequest } from './messages.ts';
import { type ResourceAttributes, resourceMessage, scopeMessage } from './resource.ts';
import { traceRequestSchema } from './schema.ts';

/** `SPAN_KIND_INTERNAL`: a module's functions call each other within one process. */
const internalKind = 1;
const errorStatus = 2;

/** The request that takes spans to a collector: `ExportTraceServiceRequest`. */
export function traceRequest(spans: readonly Span[], resource?: ResourceAttributes): TraceRequest {
  const scopeSpans = [{ scope: scopeMessage, spans: spans.map(spanMessage) }];
  return { resourceSpans: [{ resource: resourceMessage(resource), scopeSpans }] };
}

/** Spans in OTLP's JSON, as one line: what a collector's `otlpjsonfile` receiver reads. */
export function otlpJson(spans: readonly Span[], resource?: ResourceAttributes): string {
  return `${encodeJson(traceRequest(spans, resource))}\n`;
}

/** Spans in OTLP's protobuf: one `ExportTraceServiceRequest`, which is also a `TracesData`. */
export function otlpProtobuf(spans: readonly Span[], resource?: ResourceAttributes): Uint8Array<ArrayBuffer> {
  return encodeProtobuf(traceRequest(spans, resource), traceRequestSchema);
}

function spanMessage(span: Span): SpanMessage {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.traceState,
    parentSpanId: span.parentSpanId,
    name: span.name.toWellFormed(),
    kind: internalKind,
    startTimeUnixNano: span.startTimeUnixNano,
    endTimeUnixNano: span.endTimeUnixNano,
    attributes: attributeMessages(spanAttributes(span)),
    droppedAttributesCount: span.dropped.attributes || undefined,
    events: span.events.length === 0 ? undefined : span.events.map(eventMessage),
    droppedEventsCount: span.dropped.events || undefined,
    status:
      span.status.code === 'error' ? { message: span.status.message.toWellFormed(), code: errorStatus } : undefined,
    flags: span.traceFlags & 0xff,
  };
}

function eventMessage({ name, timeUnixNano, attributes }: Span['events'][number]): EventMessage {
  return { timeUnixNano, name: name.toWellFormed(), attributes: attributeMessages(attributes) };
}
