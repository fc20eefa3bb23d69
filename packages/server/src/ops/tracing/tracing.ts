import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { type OtlpSpanCounts, otlpExporter } from '@tenon/trace/otlp';
import type { Logger } from 'pino';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import type { OnTaskEnd } from '../../workers/pool.ts';
import type { PoolName } from '../metrics/metrics.ts';
import { createStoreSpans } from './store-spans.ts';
import { createRequestTraces } from './trace-requests.ts';
import { createTracer, errorTypeOf, type SpanOptions, type Tracer } from './tracer.ts';

/** Traces requests, and exports the spans to a collector. */
export type Tracing = ReturnType<typeof openTracing>;

/** The maximum number of spans of a request, in addition to its own. */
const maxSpans = 250;

/** How long a shutdown waits for the collector. */
const shutdownTimeoutMs = 3_000;

/** The minimum time between two log messages about failed exports. */
const logIntervalMs = 60_000;

export function openTracing(config: Config, log: Logger) {
  const logFailure = createFailureLog(log, () => exporter.counts());
  const exporter = otlpExporter({ ...collectorOf(config), onError: ({ message }) => logFailure(message) });
  const tracer = createTracer({ random: randomBytes, export: (span) => exporter.export([span]), maxSpans });
  const isOnPostgres = config.databaseUrl !== undefined;
  return {
    requests: createRequestTraces({
      tracer,
      samplingRatio: config.otelSamplingRatio,
      random: Math.random,
      trustsCallers: config.trustTraceparent,
      probes: new Set(['/healthz', '/readyz']),
    }),
    storeSpans: createStoreSpans(tracer, isOnPostgres ? 'postgresql' : 'sqlite'),
    traceBlobs: (blobs: BlobStore): BlobStore =>
      traceBlobs(blobs, tracer, config.s3Bucket === undefined ? 'folder' : 's3'),
    tasksOf: (pool: PoolName): NonNullable<OnTaskEnd> => traceTasks(tracer, pool),
    counts: (): OtlpSpanCounts => exporter.counts(),
    /** Sends the queued spans, within {@link shutdownTimeoutMs}. Never rejects. */
    close: (): Promise<void> => exporter.shutdown().catch(() => {}), // `onError` has logged the failure
  };
}

function collectorOf(config: Config): Parameters<typeof otlpExporter>[0] {
  return {
    endpoint: config.otelEndpoint,
    protocol: config.otelProtocol,
    headers: config.otelHeaders,
    timeoutMs: config.otelTimeoutMs,
    maxQueueSpans: config.otelQueueSize,
    maxBatchSpans: config.otelBatchSize,
    batchDelayMs: config.otelBatchDelayMs,
    shutdownTimeoutMs,
    scope: { name: '@tenon/server', version },
    resource: resourceOf(config),
  };
}

/** Each process is a separate instance: https://opentelemetry.io/docs/specs/semconv/resource/. */
function resourceOf({ otelResourceAttributes, otelServiceName }: Config): Record<string, string | number> {
  return {
    'service.name': 'tenon',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    ...otelResourceAttributes,
    ...(otelServiceName === undefined ? {} : { 'service.name': otelServiceName }),
  };
}

/** Logs failed exports with the counts of spans, at most once per {@link logIntervalMs}. */
function createFailureLog(log: Logger, counts: () => OtlpSpanCounts): (reason: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (performance.now() - loggedAt < logIntervalMs) return;
    loggedAt = performance.now();
    log.warn({ reason, spans: counts() }, 'spans could not be sent');
  };
}

/** Creates a span for each task of a thread pool when it has ended. The span includes the time in the queue. */
function traceTasks(tracer: Tracer, pool: string): NonNullable<OnTaskEnd> {
  return ({ kind }, outcome, durationMs, waitedMs) => {
    const endMs = performance.now();
    const span = tracer.begin(`${pool}.${kind}`, {
      kind: 'internal',
      startMs: endMs - durationMs,
      attributes: { 'tenon.task.wait_seconds': waitedMs / 1000 },
    });
    if (outcome !== 'done') span?.fail(outcome);
    span?.end(endMs);
  };
}

/** Wraps a blob store to trace its operations. A read has two spans: one until it is open, and one for the bytes. */
export function traceBlobs(blobs: BlobStore, tracer: Tracer, kind: 'folder' | 's3'): BlobStore {
  const options: SpanOptions = { kind: 'client', attributes: { 'tenon.blobs.kind': kind } };

  async function* read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const span = tracer.begin('blobs.read', options);
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      span?.fail(errorTypeOf(error));
      throw error;
    } finally {
      span?.set('tenon.blobs.bytes', bytes);
      span?.end();
    }
  }

  return {
    ...blobs,
    put(key, bytes) {
      const sized = { ...options, attributes: { ...options.attributes, 'tenon.blobs.bytes': bytes.length } };
      return tracer.within('blobs.put', sized, () => blobs.put(key, bytes));
    },
    size: (key) => tracer.within('blobs.size', options, () => blobs.size(key)),
    stat: (key) => tracer.within('blobs.stat', options, () => blobs.stat(key)),
    async open(...args) {
      const chunks = await tracer.within('blobs.open', options, () => blobs.open(...args));
      return chunks && (tracer.isTracing() ? read(chunks) : chunks);
    },
    delete: (key) => tracer.within('blobs.delete', options, () => blobs.delete(key)),
  };
}
