import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { type OtlpSpanCounts, otlpExporter } from '@tenon/trace/otlp';
import type { Logger } from 'pino';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import type { OnTaskEnd } from '../../workers/pool.ts';
import { createStoreSpans } from './store-spans.ts';
import { createRequestTraces } from './trace-requests.ts';
import { createTracer, errorTypeOf, type SpanOptions, type Tracer } from './tracer.ts';

/** What makes spans of requests, and sends them to a collector, where the configuration names one. */
export type Tracing = ReturnType<typeof openTracing>;

/** How many spans a request may have within its own. */
const maxSpans = 250;

/** How long a shutdown waits for the collector. */
const shutdownTimeoutMs = 3_000;

/** How often the log tells that the collector does not take spans. */
const complainEveryMs = 60_000;

export function openTracing(config: Config, log: Logger) {
  const complain = createComplaints(log, () => exporter.counts());
  const exporter = otlpExporter({ ...collectorOf(config), onError: ({ message }) => complain(message) });
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
    tasksOf: (pool: 'modules' | 'passwords'): NonNullable<OnTaskEnd> => traceTasks(tracer, pool),
    counts: (): OtlpSpanCounts => exporter.counts(),
    /** Sends what waits, for three seconds at the most. Never rejects. */
    close: (): Promise<void> => exporter.shutdown().catch(() => {}), // whoever has to know of it was told
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

/** https://opentelemetry.io/docs/specs/semconv/resource/: each process is an instance of its own. */
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

/** Tells of the first of many failures, and then now and then how many spans it has been. */
function createComplaints(log: Logger, counts: () => OtlpSpanCounts): (reason: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (performance.now() - loggedAt < complainEveryMs) return;
    loggedAt = performance.now();
    log.warn({ reason, spans: counts() }, 'spans could not be sent');
  };
}

/** Makes a span of each task of a pool of threads, once it has ended: from when it was asked for, with how long it waited for a thread. */
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

/** The blob store, with spans of what requests that are traced ask of it. Of a read one is for the opening, and one for the bytes. */
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
    stat: (key) => tracer.within('blobs.size', options, () => blobs.stat(key)),
    async open(...question) {
      const chunks = await tracer.within('blobs.open', options, () => blobs.open(...question));
      return chunks && (tracer.isTracing() ? read(chunks) : chunks);
    },
    delete: (key) => tracer.within('blobs.delete', options, () => blobs.delete(key)),
  };
}
