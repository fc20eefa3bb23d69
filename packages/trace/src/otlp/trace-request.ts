import type { Span } from '../span.ts';
import { spanAttributes } from '../span-attributes.ts';
import { attributeMessages } from './attributes.ts';
import { encodeJson } from './encode.ts';
import type { EventMessage, ScopeMessage, SpanMessage, TraceRequest } from './messages.ts';
import { type ResourceAttributes, resourceMessage, scopeMessage } from './resource.ts';

/** A span that the host made itself, such as of a request that it serves. It gets no other attributes. */
export interface HostSpan
  extends Pick<
    Span,
    | 'traceId'
    | 'spanId'
    | 'parentSpanId'
    | 'traceFlags'
    | 'traceState'
    | 'name'
    | 'startTimeUnixNano'
    | 'endTimeUnixNano'
    | 'status'
    | 'attributes'
    | 'events'
    | 'dropped'
  > {
  /** https://opentelemetry.io/docs/specs/otel/trace/api/#spankind */
  readonly kind: 'internal' | 'server' | 'client';
}

/** Numbers of OTLP. A module's functions call each other within one process. */
const kinds = { internal: 1, server: 2, client: 3 } as const;
const errorStatus = 2;

/** An `ExportTraceServiceRequest`. */
export function traceRequest(
  spans: readonly (Span | HostSpan)[],
  resource?: ResourceAttributes,
  scope: ScopeMessage = scopeMessage,
): TraceRequest {
  const scopeSpans = [{ scope, spans: spans.map(spanMessage) }];
  return { resourceSpans: [{ resource: resourceMessage(resource), scopeSpans }] };
}

/** Spans in OTLP's JSON as one line, for a collector's `otlpjsonfile` receiver. */
export function otlpJson(spans: readonly Span[], resource?: ResourceAttributes): string {
  return `${encodeJson(traceRequest(spans, resource))}\n`;
}

function spanMessage(span: Span | HostSpan): SpanMessage {
  const isHosts = 'kind' in span;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.traceState,
    parentSpanId: span.parentSpanId,
    name: span.name.toWellFormed(),
    kind: kinds[isHosts ? span.kind : 'internal'],
    startTimeUnixNano: span.startTimeUnixNano,
    endTimeUnixNano: span.endTimeUnixNano,
    attributes: attributeMessages(isHosts ? span.attributes : spanAttributes(span)),
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
