import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTraceParent, type SpanContext } from '@tenon/trace';
import type { ActiveSpan, Tracer } from './tracer.ts';

/** What the lines of a request in the log have beside its id. */
interface TraceIds {
  readonly traceId: string;
  /** `undefined` for a request that is not traced, whose caller told its trace's id. */
  readonly spanId?: string;
}

/** Traces requests by the route as it is declared: never by the path, which may hold a guest key or an id. */
export type RequestTraces = ReturnType<typeof createRequestTraces>;

interface RequestTracesOptions {
  readonly tracer: Tracer;
  /** The share of requests that is traced, from 0 to 1. */
  readonly samplingRatio: number;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /**
   * Whether the caller's sampled flag decides, and its `tracestate` is kept. Otherwise a stranger could have all requests traced at the
   * operator's cost, and puts no text into spans.
   */
  readonly trustsCallers: boolean;
  /** Routes that machines ask for every few seconds: what is answered well there has no span. */
  readonly probes: ReadonlySet<string>;
}

const spanKey = Symbol('span');

interface RequestSpan extends ActiveSpan {
  route?: string;
}

interface TracedMessage extends IncomingMessage {
  [spanKey]?: RequestSpan | undefined;
}

/** Methods that a span may be named after: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#method-placeholder */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'CONNECT', 'TRACE']);

/** The parent span is sampled: https://www.w3.org/TR/trace-context/#sampled-flag */
const sampledFlag = 1;

export function createRequestTraces(options: RequestTracesOptions) {
  const { tracer, samplingRatio, random, trustsCallers, probes } = options;

  const isSampled = (parent: SpanContext | undefined): boolean =>
    trustsCallers && parent !== undefined ? (parent.traceFlags & sampledFlag) !== 0 : random() < samplingRatio;

  const parentOf = ({ headers }: IncomingMessage): SpanContext | undefined => {
    const { traceparent } = headers;
    if (typeof traceparent !== 'string') return undefined;
    const { tracestate } = headers;
    return parseTraceParent(traceparent, trustsCallers && typeof tracestate === 'string' ? tracestate : undefined);
  };

  const end = (span: RequestSpan, { method = '' }: IncomingMessage, response: ServerResponse): void => {
    const { route } = span;
    const { statusCode, headersSent, writableFinished } = response;
    if (route !== undefined && probes.has(route) && writableFinished && statusCode < 400) {
      span.discard();
      return;
    }
    const known = methods.has(method);
    span.rename(`${known ? method : 'HTTP'}${route === undefined ? '' : ` ${route}`}`);
    span.set('http.request.method', known ? method : '_OTHER');
    if (route !== undefined) span.set('http.route', route);
    if (headersSent) span.set('http.response.status_code', statusCode);
    if (!writableFinished) span.set('tenon.client_gone', true);
    span.end();
  };

  return {
    /** Decides whether a request that has come is traced. To be called with each. @returns whether it is */
    begin(message: TracedMessage): boolean {
      const parent = parentOf(message);
      if (!isSampled(parent)) return false;
      const attributes = { 'network.protocol.version': message.httpVersion };
      message[spanKey] = tracer.beginTrace('HTTP', { kind: 'server', attributes }, parent);
      return true;
    },
    /** Has the requests' ids noted as they are made. */
    notingIds:
      (requestIdOf: (message: IncomingMessage) => string): ((message: IncomingMessage) => string) =>
      (message: TracedMessage) => {
        const id = requestIdOf(message);
        message[spanKey]?.set('tenon.request.id', id);
        return id;
      },
    /** Answers a request that has begun within its span, if it has one. The span ends with the answer. */
    run(message: TracedMessage, response: ServerResponse, handle: () => void): void {
      const span = message[spanKey];
      if (span !== undefined) response.once('close', () => end(span, message, response));
      // Without a span too: what runs for one request on a connection must not seem to be part of another.
      tracer.run(span, handle);
    },
    /** Tells by which route a request that has begun is answered. */
    routed(message: TracedMessage, route: string): void {
      const span = message[spanKey];
      if (span !== undefined) span.route = route;
    },
    /** Tells of the error that a request is answered with. */
    failed(message: TracedMessage, status: number, code: string): void {
      const span = message[spanKey];
      if (span === undefined) return;
      span.set('tenon.error.code', code);
      // https://opentelemetry.io/docs/specs/semconv/http/http-spans/#status: what a client does wrong is no failure of the server.
      if (status >= 500) span.fail(code);
    },
    /** Ends the span of a request that was answered from memory, at once. */
    answered(message: TracedMessage, { statusCode }: ServerResponse, route: string): void {
      const span = message[spanKey];
      if (span === undefined) return;
      const method = message.method === 'HEAD' ? 'HEAD' : 'GET';
      span.rename(`${method} ${route}`);
      span.set('http.request.method', method);
      span.set('http.route', route);
      span.set('http.response.status_code', statusCode);
      span.set('tenon.from_memory', true);
      span.end();
    },
    idsOf(message: TracedMessage): TraceIds | undefined {
      const span = message[spanKey];
      if (span !== undefined) return { traceId: span.traceId, spanId: span.spanId };
      const parent = parentOf(message);
      return parent && { traceId: parent.traceId };
    },
  };
}
