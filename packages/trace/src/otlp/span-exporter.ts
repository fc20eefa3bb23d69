import { expects, hasMembers, isCount } from '../check-options.ts';
import { TraceError } from '../errors.ts';
import type { Span, SpanExporter } from '../span.ts';
import { checkOtlpOptions, hostEnvironment, isTimerDelay, type OtlpEnvironment, type OtlpOptions } from './options.ts';
import { traceRequestSchema } from './schema.ts';
import { type HostSpan, traceRequest } from './trace-request.ts';
import { createTransport, DeliveryFailure, exportFailed, tell } from './transport.ts';

/** Options of {@link otlpExporter}. */
export interface OtlpExporterOptions extends OtlpOptions {
  /** Spans that wait at most; what comes beyond is dropped and counted. Default: 100,000. */
  readonly maxQueueSpans?: number | undefined;
  /** Spans in one request. Default: 1,000. */
  readonly maxBatchSpans?: number | undefined;
  /** Milliseconds that a span waits for others at most. Default: 1,000. */
  readonly batchDelayMs?: number | undefined;
  /** The instrumentation scope: what makes the spans. Default: `@tenon/trace`, with its version. */
  readonly scope?: { readonly name: string; readonly version: string } | undefined;
}

/** What became of the spans. `sent + rejected + failed + dropped + queued` is how many were handed over. */
export interface OtlpSpanCounts {
  /** Taken by the collector. */
  readonly sent: number;
  /** Refused by a collector that took others of the same request. */
  readonly rejected: number;
  /** Not delivered. */
  readonly failed: number;
  /** Not taken into the queue, since it was full or shut down. */
  readonly dropped: number;
  /** Waiting or on their way. */
  readonly queued: number;
}

/** Sends spans to an OpenTelemetry collector, or to a service that speaks its protocol. */
export interface OtlpExporter extends SpanExporter {
  /** Puts spans into the queue, of modules or of the host's own; never throws. */
  export(spans: readonly (Span | HostSpan)[]): void;
  /** Sends all spans that have come so far. Rejects with the first `export_failed` since the last flush. */
  flush(): Promise<void>;
  /** Flushes, for `shutdownTimeoutMs` at the most, and takes nothing more. A second call waits for the first. */
  shutdown(): Promise<void>;
  counts(): OtlpSpanCounts;
}

/**
 * Makes an exporter that sends spans by OTLP over HTTP, https://opentelemetry.io/docs/specs/otlp/#otlphttp: in batches, one request after
 * the other, again after a while where the collector says that this helps (429, 502, 503, 504) or can't be reached.
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

/** {@link otlpExporter} in a world that is handed in. */
export function createOtlpExporter(options: OtlpExporterOptions, environment: OtlpEnvironment): OtlpExporter {
  const { maxQueueSpans = 100_000, maxBatchSpans = 1_000, batchDelayMs = 1_000, shutdownTimeoutMs = 30_000 } = options;
  const transport = createTransport('/v1/traces', traceRequestSchema, options, environment);
  const counts = { sent: 0, rejected: 0, failed: 0, dropped: 0 };
  let waiting: (Span | HostSpan)[] = [];
  let onItsWay = 0;
  /** Spans that were ever taken into the queue. */
  let taken = 0;
  let running: Promise<void> | undefined;
  let cancelDelay: (() => void) | undefined;
  let firstFailure: TraceError | undefined;
  let isOverflowTold = false;
  let closed: Promise<void> | undefined;

  function take(spans: readonly (Span | HostSpan)[]): void {
    const room = closed === undefined ? Math.max(0, maxQueueSpans - waiting.length - onItsWay) : 0;
    // Parents come before children: what is kept of a trace holds together.
    const kept = Math.min(spans.length, room);
    for (let index = 0; index < kept; index++) waiting.push(spans[index] as Span | HostSpan);
    taken += kept;
    if (spans.length > room) overflow(spans.length - room);
    schedule();
  }

  /** Tells it once for each time that the queue fills up: it fills up where much is traced. */
  function overflow(count: number): void {
    counts.dropped += count;
    if (isOverflowTold) return;
    isOverflowTold = true;
    const why = closed === undefined ? `more than ${maxQueueSpans} were waiting` : 'the exporter was shut down';
    fail(new TraceError('export_failed', `Dropped spans: ${why}`));
  }

  function fail(error: TraceError): void {
    firstFailure ??= error;
    tell(options, error);
  }

  function schedule(): void {
    if (running !== undefined || waiting.length === 0) return;
    if (waiting.length >= maxBatchSpans) void pump();
    else cancelDelay ??= environment.schedule(() => void pump(), batchDelayMs, false);
  }

  /** Sends one batch, unless one is on its way already: then waits for that. */
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
    onItsWay = batch.length;
    await deliver(batch);
    if (waiting.length < maxQueueSpans && closed === undefined) isOverflowTold = false;
  }

  async function deliver(batch: readonly (Span | HostSpan)[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const { rejected, message } = await transport.send(traceRequest(batch, options.resource, options.scope));
      const refused = Math.min(rejected, batch.length);
      counts.rejected += refused;
      counts.sent += batch.length - refused;
      onItsWay -= batch.length;
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
      onItsWay -= batch.length;
      fail(exportFailed(`${batch.length} spans`, cause));
    }
  }

  async function flush(): Promise<void> {
    const target = taken;
    while (taken - waiting.length - onItsWay < target) await pump();
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
    counts: () => ({ ...counts, queued: waiting.length + onItsWay }),
  };
}
