import { expects, hasMembers, isCount } from '../check-options.ts';
import { TraceError } from '../errors.ts';
import type { Span, SpanExporter } from '../span.ts';
import { checkOtlpOptions, hostEnvironment, isTimerDelay, type OtlpEnvironment, type OtlpOptions } from './options.ts';
import { traceRequestSchema } from './schema.ts';
import { type HostSpan, traceRequest } from './trace-request.ts';
import { createTransport, DeliveryFailure, exportFailed, report } from './transport.ts';

/** Options of {@link otlpExporter}. */
export interface OtlpExporterOptions extends OtlpOptions {
  /** Maximum number of waiting spans. Later ones are dropped and counted. Default: 100,000. */
  readonly maxQueueSpans?: number | undefined;
  /** Spans in one request. Default: 1,000. */
  readonly maxBatchSpans?: number | undefined;
  /** Maximum milliseconds that a span waits for a batch. Default: 1,000. */
  readonly batchDelayMs?: number | undefined;
  /** The instrumentation scope. Default: `@tenon/trace`, with its version. */
  readonly scope?: { readonly name: string; readonly version: string } | undefined;
}

/** Numbers of spans. The sum of all is the number of exported spans. */
export interface OtlpSpanCounts {
  /** Accepted by the collector. */
  readonly sent: number;
  /** Refused by the collector, which accepted others of the same request. */
  readonly rejected: number;
  /** Not delivered. */
  readonly failed: number;
  /** Not queued, because the queue was full or the exporter shut down. */
  readonly dropped: number;
  /** Waiting or being sent. */
  readonly queued: number;
}

/** Sends spans to an OpenTelemetry collector, or to a service that speaks its protocol. */
export interface OtlpExporter extends SpanExporter {
  /** Queues spans of modules or of the host; never throws. */
  export(spans: readonly (Span | HostSpan)[]): void;
  /** Sends all spans exported so far. Rejects with the first `export_failed` since the last flush. */
  flush(): Promise<void>;
  /** Flushes for at most `shutdownTimeoutMs`, and drops later spans. A second call waits for the first. */
  shutdown(): Promise<void>;
  counts(): OtlpSpanCounts;
}

/**
 * Creates an exporter that sends spans by OTLP over HTTP, https://opentelemetry.io/docs/specs/otlp/#otlphttp, in batches, one request
 * at a time. It retries after 429, 502, 503, 504, and connection errors.
 *
 * @throws TraceError with code `invalid_option`
 */
export function otlpExporter(options: OtlpExporterOptions = {}): OtlpExporter {
  checkOtlpOptions(options, {
    maxQueueSpans: isCount,
    maxBatchSpans: isCount,
    batchDelayMs: isTimerDelay,
    scope: checkScope,
  });
  return createOtlpExporter(options, hostEnvironment(options));
}

const isText = expects('a text', (value) => typeof value === 'string');
const checkScope = hasMembers({ name: isText, version: isText }, {});

/** {@link otlpExporter} with the given environment. */
export function createOtlpExporter(options: OtlpExporterOptions, environment: OtlpEnvironment): OtlpExporter {
  const { maxQueueSpans = 100_000, maxBatchSpans = 1_000, batchDelayMs = 1_000, shutdownTimeoutMs = 30_000 } = options;
  const transport = createTransport(traceRequestSchema, options, environment);
  const counts = { sent: 0, rejected: 0, failed: 0, dropped: 0 };
  let waiting: (Span | HostSpan)[] = [];
  let inFlight = 0;
  /** The number of spans queued so far. */
  let taken = 0;
  let running: Promise<void> | undefined;
  let cancelDelay: (() => void) | undefined;
  let firstFailure: TraceError | undefined;
  let isOverflowReported = false;
  let closed: Promise<void> | undefined;

  function take(spans: readonly (Span | HostSpan)[]): void {
    const room = closed === undefined ? Math.max(0, maxQueueSpans - waiting.length - inFlight) : 0;
    // Parents come before children, so the accepted part of a trace is connected.
    const accepted = Math.min(spans.length, room);
    for (let index = 0; index < accepted; index++) waiting.push(spans[index] as Span | HostSpan);
    taken += accepted;
    if (spans.length > room) overflow(spans.length - room);
    schedule();
  }

  /** Reports the overflow once each time the queue fills up. */
  function overflow(count: number): void {
    counts.dropped += count;
    if (isOverflowReported) return;
    isOverflowReported = true;
    const why = closed === undefined ? `more than ${maxQueueSpans} were waiting` : 'the exporter was shut down';
    fail(new TraceError('export_failed', `Dropped spans: ${why}`));
  }

  function fail(error: TraceError): void {
    firstFailure ??= error;
    report(options, error);
  }

  function schedule(): void {
    if (running !== undefined || waiting.length === 0) return;
    if (waiting.length >= maxBatchSpans) void pump();
    else cancelDelay ??= environment.schedule(() => void pump(), batchDelayMs, false);
  }

  /** Sends one batch, or waits for the one that is being sent. */
  function pump(): Promise<void> {
    cancelDelay?.();
    cancelDelay = undefined;
    running ??= sendBatch().finally(() => {
      running = undefined;
      schedule();
    });
    return running;
  }

  async function sendBatch(): Promise<void> {
    const batch = waiting.slice(0, maxBatchSpans);
    waiting = waiting.slice(maxBatchSpans);
    inFlight = batch.length;
    await deliver(batch);
    if (waiting.length < maxQueueSpans && closed === undefined) isOverflowReported = false;
  }

  async function deliver(batch: readonly (Span | HostSpan)[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const { rejected, message } = await transport.send(traceRequest(batch, options.resource, options.scope));
      const refused = Math.min(rejected, batch.length);
      counts.rejected += refused;
      counts.sent += batch.length - refused;
      inFlight -= batch.length;
      if (refused > 0)
        fail(new TraceError('export_failed', `The collector refused ${refused} of ${batch.length} spans: ${message}`));
    } catch (cause) {
      if (cause instanceof DeliveryFailure && cause.status === 413 && batch.length > 1) {
        const middle = batch.length >> 1;
        await deliver(batch.slice(0, middle));
        await deliver(batch.slice(middle));
        return;
      }
      counts.failed += batch.length;
      inFlight -= batch.length;
      fail(exportFailed(`${batch.length} spans`, cause));
    }
  }

  async function flush(): Promise<void> {
    const target = taken;
    while (taken - waiting.length - inFlight < target) await pump();
    const failure = firstFailure;
    firstFailure = undefined;
    if (failure !== undefined) throw failure;
  }

  async function close(): Promise<void> {
    const cancel = environment.schedule(() => transport.abort(), shutdownTimeoutMs, false);
    try {
      await flush();
    } finally {
      cancel();
    }
  }

  return {
    export: take,
    flush,
    shutdown() {
      closed ??= close();
      return closed;
    },
    counts: () => ({ ...counts, queued: waiting.length + inFlight }),
  };
}
