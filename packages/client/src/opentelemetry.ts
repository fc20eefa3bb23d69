import type { Client } from './client.ts';
import type { ClientError } from './errors.ts';
import type { Operation, TraceHeaders } from './events.ts';

type Attributes = Record<string, string | number | boolean>;

/** The used part of a `Meter` of `@opentelemetry/api`. */
export interface Meter {
  createCounter(name: string, options: InstrumentOptions): { add(value: number, attributes: Attributes): void };
  createUpDownCounter(name: string, options: InstrumentOptions): { add(value: number, attributes: Attributes): void };
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes: Attributes): void };
}

interface InstrumentOptions {
  readonly description: string;
  readonly unit: string;
}

/** The used part of a `Tracer` of `@opentelemetry/api`. */
export interface Tracer {
  startSpan(name: string, options: { kind: number; startTime: number; attributes: Attributes }): Span;
}

export interface Span {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(endTime: number): void;
}

/** The used part of `@opentelemetry/api` for propagation. Contexts are opaque. */
export interface PropagationApi {
  readonly context: { active(): unknown };
  readonly trace: { setSpan(context: never, span: never): unknown };
  readonly propagation: { inject(context: never, carrier: TraceHeaders): void };
}

export interface ObserveOptions {
  /** `metrics.getMeter('…')`. Without it there are no metrics. */
  readonly meter?: Meter | undefined;
  /** `trace.getTracer('…')`. Without it there are no spans. */
  readonly tracer?: Tracer | undefined;
  /**
   * `@opentelemetry/api` itself. Requests then carry the `traceparent` of the host's propagator, so that the server's spans are
   * children of the client's. Leave it out if `fetch` is already instrumented. Requires `tracer`.
   */
  readonly api?: PropagationApi | undefined;
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`, which are stable (https://opentelemetry.io/docs/specs/otel/trace/api/). */
const clientKind = 2;
const errorStatus = 2;

/** Routes replace paths, since paths contain guest keys. */
const routes: Readonly<Record<Operation, string>> = {
  bindings: '/api/v1/extension-points/{extensionPointId}/bindings/{guestKey}',
  content: '/api/v1/c/{contentAddress}',
  attestations: '/api/v1/artifacts/{extensionPointId}/plugin/{userId}/{pluginName}/attestations',
  changes: '/api/v1/extension-points/{extensionPointId}/changes',
  reports: '/api/v1/extension-points/{extensionPointId}/otlp/v1/metrics',
};

/**
 * Emits metrics and spans of a client. No attribute names a guest, a plugin or an address, so cardinality is low.
 *
 * Each request to the server is a span, the child of the active span. Results from memory have none.
 *
 * @returns a function that removes the listeners
 */
export function observeClient(client: Pick<Client, 'on'>, { meter, tracer, api }: ObserveOptions): () => void {
  const removers = [...(meter === undefined ? [] : countEvents(client, meter))];
  if (tracer !== undefined) removers.push(...makeSpans(client, tracer, api));
  return () => {
    for (const remove of removers) remove();
  };
}

function countEvents(client: Pick<Client, 'on'>, meter: Meter): (() => void)[] {
  const durations = meter.createHistogram('tenon.client.request.duration', {
    description: 'Duration of requests to the server',
    unit: 's',
  });
  const received = meter.createCounter('tenon.client.received', {
    description: 'Bytes of response bodies',
    unit: 'By',
  });
  const lookups = meter.createCounter('tenon.client.lookups', {
    description: 'Lookups of lists, contents and modules, by source',
    unit: '{lookup}',
  });
  const changes = meter.createCounter('tenon.client.changes', {
    description: 'Binding lists that changed',
    unit: '{list}',
  });
  const errors = meter.createCounter('tenon.client.errors', {
    description: 'Errors that fail no call',
    unit: '{error}',
  });
  const stale = meter.createUpDownCounter('tenon.client.stale_lists', {
    description: 'Binding lists that are served stale because the server cannot be asked',
    unit: '{list}',
  });
  return [
    client.on('response', ({ operation, status, error, durationMs, receivedBytes }) => {
      durations.record(durationMs / 1000, { operation, ...outcome(status, error) });
      if (receivedBytes > 0) received.add(receivedBytes, { operation });
    }),
    client.on('lookup', ({ kind, source, isStale }) => lookups.add(1, { kind, source, stale: isStale })),
    client.on('change', () => changes.add(1, {})),
    client.on('error', ({ error }) => errors.add(1, { 'error.type': error.code })),
    client.on('stale', () => stale.add(1, {})),
    client.on('recover', () => stale.add(-1, {})),
  ];
}

function makeSpans(client: Pick<Client, 'on'>, tracer: Tracer, api: PropagationApi | undefined): (() => void)[] {
  const spans = new WeakMap<TraceHeaders, Span>();
  return [
    client.on('request', ({ operation, attempt, startedAtMs, headers }) => {
      const span = tracer.startSpan(`${methodOf(operation)} ${routes[operation]}`, {
        kind: clientKind,
        startTime: startedAtMs,
        attributes: {
          'http.request.method': methodOf(operation),
          'url.template': routes[operation],
          ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
        },
      });
      spans.set(headers, span);
      api?.propagation.inject(api.trace.setSpan(api.context.active() as never, span as never) as never, headers);
    }),
    client.on('response', ({ startedAtMs, durationMs, status, error, headers }) => {
      const span = spans.get(headers);
      if (span === undefined) return; // it was sent before `observeClient()`
      span.setAttributes(outcome(status, error));
      if (error !== undefined) span.setStatus({ code: errorStatus, message: error.message });
      span.end(startedAtMs + durationMs);
    }),
  ];
}

const methodOf = (operation: Operation): string => (operation === 'reports' ? 'POST' : 'GET');

/** Names of https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function outcome(status: number | undefined, error: ClientError | undefined): Attributes {
  return {
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(error === undefined ? {} : { 'error.type': error.code }),
  };
}
