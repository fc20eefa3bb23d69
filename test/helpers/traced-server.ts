import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, loadConfig, type RunningServer, readQuickstart, serve } from '@tenon/server';
import { collectLog } from '../../packages/server/test/helpers/collected-log.ts';
import { type Collector, spansIn, startCollector } from '../../packages/trace/test/helpers/collector.ts';
import { attributesOf, hexOf, type Plain } from '../../packages/trace/test/helpers/otlp-definitions.ts';

/** A span as a collector got it, with ids in hexadecimal. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly isError: boolean;
  readonly attributes: ReadonlyMap<string, unknown>;
}

/** A server in this process that sends its spans to a collector in this process. */
export interface TracedServer {
  readonly collector: Collector;
  readonly server: RunningServer;
  readonly dataDir: string;
  readonly quickstart: Readonly<Record<string, string>>;
  /** What was logged. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Asks with the demo's token. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** The spans that came, once there are such. */
  spansWith(isThere: (spans: readonly SeenSpan[]) => boolean): Promise<readonly SeenSpan[]>;
  /** All spans of the trace of a request, once its own is there: it is sent after those within it. */
  traceOf(answer: Response): Promise<Trace>;
  close(): Promise<void>;
}

/** A request's spans. */
export interface Trace {
  readonly root: SeenSpan;
  readonly spans: readonly SeenSpan[];
  /** The names of the spans directly within one, sorted. */
  namesWithin(span: SeenSpan): string[];
}

/** @param constants values of the configuration that no variable sets */
export async function startTracedServer(
  settings: Readonly<Record<string, string>> = {},
  constants: Partial<Config> = {},
): Promise<TracedServer> {
  const collector = await startCollector();
  const dataDir = await mkdtemp(join(tmpdir(), 'tenon-traced-'));
  const { log, lines } = collectLog();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings };
  const config = { ...loadConfig({ dataDir, port: '0' }, environment), otelBatchDelayMs: 20, ...constants };
  const server = await serve(config, log);
  const quickstart = Object.fromEntries(readQuickstart(dataDir));
  const seen = () => collector.received.flatMap(spansIn).map(toSeen);

  const spansWith: TracedServer['spansWith'] = async (isThere) => {
    for (const endsAt = performance.now() + 60_000; performance.now() < endsAt; await sleep(20)) {
      const spans = seen();
      if (isThere(spans)) return spans;
    }
    throw new Error(`The spans did not come. There are ${seen().map(({ name }) => name)}`);
  };
  return {
    collector,
    server,
    dataDir,
    quickstart,
    lines,
    call: (path, { headers, ...init } = {}) =>
      fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${quickstart.TENON_TOKEN}`, ...headers } }),
    spansWith,
    async traceOf(answer) {
      const id = answer.headers.get('x-request-id');
      const isRoot = ({ attributes }: SeenSpan) => attributes.get('tenon.request.id') === id;
      const all = await spansWith((spans) => spans.some(isRoot));
      const root = all.find(isRoot) as SeenSpan;
      const spans = all.filter((span) => span === root || isWithin(span, root, all));
      const namesWithin = ({ spanId }: SeenSpan) =>
        spans
          .filter(({ parentSpanId }) => parentSpanId === spanId)
          .map(({ name }) => name)
          .sort();
      return { root, spans, namesWithin };
    },
    async close() {
      await server.close();
      await collector.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function isWithin(span: SeenSpan, root: SeenSpan, all: readonly SeenSpan[]): boolean {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return parent !== undefined && (parent === root || isWithin(parent, root, all));
}

function toSeen(span: Plain): SeenSpan {
  return {
    name: span.name,
    kind: span.kind,
    traceId: hexOf(span.traceId),
    spanId: hexOf(span.spanId),
    parentSpanId: hexOf(span.parentSpanId ?? ''),
    startNano: BigInt(span.startTimeUnixNano),
    endNano: BigInt(span.endTimeUnixNano),
    isError: span.status?.code === 2,
    attributes: attributesOf(span.attributes),
  };
}
