/**
 * The part of `@opentelemetry/api` 1.x that the bridge uses. The host passes its own copy, which knows the registered SDK. Contexts are
 * opaque.
 */
export interface BridgeApi {
  readonly ROOT_CONTEXT: unknown;
  readonly context: { active(): unknown };
  readonly trace: {
    getTracer(name: string, version?: string): BridgeTracer;
    getSpanContext(context: never): BridgeSpanContext | undefined;
    setSpan(context: never, span: never): unknown;
    setSpanContext(context: never, spanContext: never): unknown;
  };
  createTraceState(raw: string): unknown;
}

export interface BridgeTracer {
  startSpan(name: string, options: never, context: never): BridgeSpan;
}

export interface BridgeSpan {
  addEvent(name: string, attributes: never, time: never): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(time: never): void;
}

export interface BridgeSpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly traceState?: { serialize(): string } | undefined;
}

/** The host's meter: `metrics.getMeter('…')`. */
export interface BridgeMeter {
  createObservableCounter(name: string, options: { readonly unit: string; readonly description: string }): unknown;
  createObservableGauge(name: string, options: { readonly unit: string; readonly description: string }): unknown;
  addBatchObservableCallback(callback: never, observables: never): void;
  removeBatchObservableCallback(callback: never, observables: never): void;
}
