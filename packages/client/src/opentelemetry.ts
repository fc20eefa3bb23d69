import type { Client } from './client.ts';
import type { ClientError } from './errors.ts';
import type { Operation, TraceHeaders } from './events.ts';

type Attributes = Record<string, string | number | boolean>;

/** What is used of a `Meter` of `@opentelemetry/api`. */
export interface Meter {
  createCounter(name: string, options: InstrumentOptions): { add(value: number, attributes: Attributes): void };
  createUpDownCounter(name: string, options: InstrumentOptions): { add(value: number, attributes: Attributes): void };
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes: Attributes): void };
}

interface InstrumentOptions {
  readonly description: string;
  readonly unit: string;
}

/** What is used of a `Tracer` of `@opentelemetry/api`. */
export interface Tracer {
  startSpan(name: string, options: { kind: number; startTime: number; attributes: Attributes }): Span;
}

export interface Span {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(endTime: number): void;
}

/** What is used of `@opentelemetry/api` to tell the server of a span. Contexts only pass through. */
export interface PropagationApi {
  readonly context: { active(): unknown };
  readonly trace: { setSpan(context: never, span: never): unknown };
  readonly propagation: { inject(context: never, carrier: TraceHeaders): void };
}

export interface ObserveOptions {
  /** `metrics.getMeter('…')`. Without it no metrics are kept. */
  readonly meter?: Meter | undefined;
  /** `trace.getTracer('…')`. Without it there are no spans. */
  readonly tracer?: Tracer | undefined;
  /**
   * All of `@opentelemetry/api`, to have requests carry `traceparent`, as the host's propagator makes it, so that the server's spans
   * hang below the client's. Leave it out where something instruments the host's `fetch` already. It needs `tracer`.
   */
  readonly api?: PropagationApi | undefined;
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`, which are numbers for good (https://opentelemetry.io/docs/specs/otel/trace/api/). */
const clientKind = 2;
const errorStatus = 2;

/** Routes stand for paths, which hold guest keys. */
const routes: Readonly<Record<Operation, string>> = {
  bindings: '/api/v1/extension-points/{extensionPointId}/bindings/{guestKey}',
  content: '/api/v1/c/{contentAddress}',
  news: '/api/v1/extension-points/{extensionPointId}/news',
};

/**
 * Makes metrics and spans of what a client tells. No attribute names a guest, a plugin or an address: each has few values.
 *
 * A span is a request to the server, below the span that was active when it was asked for: what comes from memory has none.
 *
 * @returns ends it
 */
export function observeClient(client: Pick<Client, 'on'>, { meter, tracer, api }: ObserveOptions): () => void {
  const ends = [...(meter === undefined ? [] : countEvents(client, meter))];
  if (tracer !== undefined) ends.push(...makeSpans(client, tracer, api));
  return () => {
    for (const end of ends) end();
  };
}

function countEvents(client: Pick<Client, 'on'>, meter: Meter): (() => void)[] {
  const durations = meter.createHistogram('tenon.client.request.duration', {
    description: 'How long requests to the server took',
    unit: 's',
  });
  const received = meter.createCounter('tenon.client.received', {
    description: "Bytes of answers' bodies",
    unit: 'By',
  });
  const lookups = meter.createCounter('tenon.client.lookups', {
    description: 'Lists, contents and modules that were asked for, by where they came from',
    unit: '{lookup}',
  });
  const changes = meter.createCounter('tenon.client.changes', { description: 'Lists that changed', unit: '{list}' });
  const problems = meter.createCounter('tenon.client.problems', {
    description: 'What went wrong and made no call fail',
    unit: '{problem}',
  });
  const stale = meter.createUpDownCounter('tenon.client.stale_lists', {
    description: 'Lists that are served as they were kept, since the server cannot be asked',
    unit: '{list}',
  });
  return [
    client.on('request', ({ operation, status, error, durationMs, receivedBytes }) => {
      durations.record(durationMs / 1000, { operation, ...outcome(status, error) });
      if (receivedBytes > 0) received.add(receivedBytes, { operation });
    }),
    client.on('lookup', ({ kind, source, isStale }) => lookups.add(1, { kind, source, stale: isStale })),
    client.on('changed', () => changes.add(1, {})),
    client.on('problem', ({ error }) => problems.add(1, { 'error.type': error.code })),
    client.on('stale', () => stale.add(1, {})),
    client.on('recovered', () => stale.add(-1, {})),
  ];
}

function makeSpans(client: Pick<Client, 'on'>, tracer: Tracer, api: PropagationApi | undefined): (() => void)[] {
  const spans = new WeakMap<TraceHeaders, Span>();
  return [
    client.on('sending', ({ operation, attempt, startedAtMs, headers }) => {
      const span = tracer.startSpan(`GET ${routes[operation]}`, {
        kind: clientKind,
        startTime: startedAtMs,
        attributes: {
          'http.request.method': 'GET',
          'url.template': routes[operation],
          ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
        },
      });
      spans.set(headers, span);
      api?.propagation.inject(api.trace.setSpan(api.context.active() as never, span as never) as never, headers);
    }),
    client.on('request', ({ startedAtMs, durationMs, status, error, headers }) => {
      const span = spans.get(headers);
      if (span === undefined) return; // it was sent before anybody observed
      span.setAttributes(outcome(status, error));
      if (error !== undefined) span.setStatus({ code: errorStatus, message: error.message });
      span.end(startedAtMs + durationMs);
    }),
  ];
}

/** By the names of https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function outcome(status: number | undefined, error: ClientError | undefined): Attributes {
  return {
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(error === undefined ? {} : { 'error.type': error.code }),
  };
}
