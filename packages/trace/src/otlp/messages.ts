/**
 * Messages of OTLP as its JSON has them, https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, but for numbers of 64 bits, which
 * are `bigint` here and strings there. A field that is absent has protobuf's default.
 */
export interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: ResourceMessage;
    readonly scopeSpans: readonly { readonly scope: ScopeMessage; readonly spans: readonly SpanMessage[] }[];
  }[];
}

export interface ResourceMessage {
  readonly attributes: readonly KeyValueMessage[];
}

export interface ScopeMessage {
  readonly name: string;
  readonly version: string;
}

export interface KeyValueMessage {
  readonly key: string;
  readonly value: AnyValueMessage;
}

export interface AnyValueMessage {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: bigint;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValueMessage[] };
}

export interface SpanMessage {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string | undefined;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly attributes: readonly KeyValueMessage[];
  readonly droppedAttributesCount?: number | undefined;
  readonly events?: readonly EventMessage[] | undefined;
  readonly droppedEventsCount?: number | undefined;
  readonly status?: { readonly message: string; readonly code: number } | undefined;
  readonly flags: number;
}

export interface EventMessage {
  readonly timeUnixNano: bigint;
  readonly name: string;
  readonly attributes: readonly KeyValueMessage[];
}
