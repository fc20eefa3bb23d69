import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTraceParent, type SpanContext } from '@tenon/trace';
import type { ActiveSpan, Tracer } from './tracer.ts';

/** The ids that a request's log messages contain in addition to the request id. */
interface TraceIds {
  readonly traceId: string;
  /** `undefined` if only the caller traces the request. */
  readonly spanId?: string;
}

/** Traces requests by route template, not by path, which may contain a guest key. */
export type RequestTraces = ReturnType<typeof createRequestTraces>;

interface RequestTracesOptions {
  readonly tracer: Tracer;
  /** The share of traced requests, from 0 to 1. */
  readonly samplingRatio: number;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** Whether to use the caller's sampled flag and `tracestate`. Untrusted callers could have every request traced. */
  readonly trustsCallers: boolean;
  /** The routes of health checks. Their successful requests have no spans. */
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
    if (!writableFinished) span.set('tenon.client_disconnected', true);
    span.end();
  };

  return {
    /** Call for each request. @returns whether the request is traced */
    begin(message: TracedMessage): boolean {
      const parent = parentOf(message);
      if (!isSampled(parent)) return false;
      const attributes = { 'network.protocol.version': message.httpVersion };
      message[spanKey] = tracer.beginTrace('HTTP', { kind: 'server', attributes }, parent);
      return true;
    },
    /** Wraps a generator of request ids to add the id to the request's span. */
    addingIdsToSpans:
      (requestIdOf: (message: IncomingMessage) => string): ((message: IncomingMessage) => string) =>
      (message: TracedMessage) => {
        const id = requestIdOf(message);
        message[spanKey]?.set('tenon.request.id', id);
        return id;
      },
    /** Handles a request in its span, which ends with the response. */
    run(message: TracedMessage, response: ServerResponse, handle: () => void): void {
      const span = message[spanKey];
      if (span !== undefined) response.once('close', () => end(span, message, response));
      // Also without a span, so that the request doesn't inherit that of an earlier request on the same connection.
      tracer.run(span, handle);
    },
    setRoute(message: TracedMessage, route: string): void {
      const span = message[spanKey];
      if (span !== undefined) span.route = route;
    },
    failed(message: TracedMessage, status: number, code: string): void {
      const span = message[spanKey];
      if (span === undefined) return;
      span.set('tenon.error.code', code);
      // Errors of the client are not failures of the span: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#status
      if (status >= 500) span.fail(code);
    },
    /** Ends the span of a request that the response cache has served. */
    cacheHit(message: TracedMessage, { statusCode }: ServerResponse, route: string): void {
      const span = message[spanKey];
      if (span === undefined) return;
      const method = message.method === 'HEAD' ? 'HEAD' : 'GET';
      span.rename(`${method} ${route}`);
      span.set('http.request.method', method);
      span.set('http.route', route);
      span.set('http.response.status_code', statusCode);
      span.set('tenon.cache_hit', true);
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
