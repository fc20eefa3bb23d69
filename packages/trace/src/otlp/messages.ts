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

export interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource: ResourceMessage;
    readonly scopeMetrics: readonly { readonly scope: ScopeMessage; readonly metrics: readonly MetricMessage[] }[];
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

export interface MetricMessage {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: { readonly dataPoints: readonly NumberDataPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly NumberDataPoint[];
    readonly aggregationTemporality: number;
    readonly isMonotonic: boolean;
  };
  readonly histogram?: { readonly dataPoints: readonly HistogramDataPoint[]; readonly aggregationTemporality: number };
}

export interface NumberDataPoint {
  readonly startTimeUnixNano?: bigint;
  readonly timeUnixNano: bigint;
  readonly asDouble?: number;
  readonly asInt?: bigint;
  readonly attributes: readonly KeyValueMessage[];
}

export interface HistogramDataPoint {
  readonly startTimeUnixNano: bigint;
  readonly timeUnixNano: bigint;
  readonly count: bigint;
  readonly sum?: number | undefined;
  readonly bucketCounts: readonly bigint[];
  readonly explicitBounds: readonly number[];
  readonly attributes: readonly KeyValueMessage[];
  readonly max?: number | undefined;
}
