import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { noPostgres, type PostgresServer, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { spansIn, startCollector } from '../packages/trace/test/helpers/collector.ts';
import { startServer } from './helpers/server.ts';
import { type SeenSpan, startTracedServer, type TracedServer } from './helpers/traced-server.ts';

const parent = (traceId: string, flags: '00' | '01') => `00-${traceId}-b7ad6b7169203331-${flags}`;
const wanted = '0af7651916cd43dd8448eb211c80319c';
const hourMs = 60 * 60 * 1000;
const unwanted = '1bf7651916cd43dd8448eb211c80319d';

describe('which requests are traced', () => {
  async function within(settings: Readonly<Record<string, string>>, work: (traced: TracedServer) => Promise<void>) {
    const traced = await startTracedServer(settings);
    try {
      await work(traced);
    } finally {
      await traced.close();
    }
  }

  it('is up to callers who are trusted, request by request on one connection', async () => {
    await within({ TENON_TRUST_TRACEPARENT: 'true' }, async ({ server, quickstart, spansWith, collector }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = async (traceId: string, flags: '00' | '01') => {
        const headers = {
          authorization: `Bearer ${quickstart.TENON_TOKEN}`,
          traceparent: parent(traceId, flags),
          tracestate: 'vendor=1',
        };
        const [answer] = await once(get(`${server.url}/api/v1/apps`, { agent, headers }), 'response');
        await once(answer.resume(), 'end');
      };
      for (let round = 0; round < 5; round++) {
        await ask(wanted, '01');
        await ask(unwanted, '00');
      }
      agent.destroy();
      await spansWith((spans) => spans.filter(({ kind }) => kind === 2).length === 5);
      const all = await spansWith(() => true);
      assert.deepEqual([...new Set(all.map(({ traceId }) => traceId))], [wanted]);
      const [first] = collector.received.flatMap(spansIn);
      assert.equal(first.traceState, 'vendor=1');
    });
  });

  it('is not up to strangers', async () => {
    await within({ OTEL_TRACES_SAMPLER_ARG: '0' }, async (traced) => {
      for (let round = 0; round < 5; round++)
        await (await traced.call('/api/v1/apps', { headers: { traceparent: parent(wanted, '01') } })).bytes();
      const id = 'named-all-the-same';
      const headers = { traceparent: parent(wanted, '01'), 'x-request-id': id, 'content-type': 'application/json' };
      await traced.call('/api/v1/apps', { method: 'POST', body: '{"name": 1}', headers });
      await traced.server.close();
      assert.deepEqual(traced.collector.received, []);
      const line = traced.lines.find(({ requestId }) => requestId === id);
      assert.deepEqual([line?.traceId, line?.spanId], [wanted, undefined]);
    });
  });
});

describe('spans on their way', () => {
  it('are sent before a server has ended, however long they would have waited for others', async () => {
    const traced = await startTracedServer({}, { otelBatchDelayMs: hourMs });
    await (await traced.call('/api/v1/apps')).bytes();
    assert.deepEqual(traced.collector.received, []);
    await traced.close();
    const names = traced.collector.received.flatMap(spansIn).map(({ name }) => name);
    assert.ok(names.includes('GET /api/v1/apps'), String(names));
  });

  it('go to the URL that is set, with its header fields, as JSON where that is wished', async () => {
    const other = await startCollector();
    const traced = await startTracedServer({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${other.url}/some`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20traces',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    await (await traced.call('/api/v1/apps')).bytes();
    await traced.close();
    assert.deepEqual(traced.collector.received, []);
    const [{ path, headers } = assert.fail()] = other.received;
    assert.equal(path, '/some/v1/traces');
    assert.equal(headers['x-key'], 'of traces');
    assert.equal(headers['content-type'], 'application/json');
    await other.close();
  });

  const few = { otelQueueSize: 20, otelBatchSize: 5, otelBatchDelayMs: 10 };

  async function askOften(url: string, token: string | undefined): Promise<void> {
    for (let round = 0; round < 50; round++) {
      const answer = await fetch(`${url}/api/v1/apps`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(answer.status, 200);
      await answer.bytes();
    }
  }

  it('hold up neither requests nor the end of the process when the collector hangs, which the log tells once', async () => {
    const collector = await startCollector();
    collector.answer(...Array.from({ length: 1000 }, () => ({ behaviour: 'hang' }) as const));
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TENON_LOG_LEVEL: 'info' };
    const server = await startServer({ settings });
    await askOften(server.quickstart.TENON_URL ?? '', server.quickstart.TENON_TOKEN);
    while (collector.received.length === 0) await sleep(10);
    await server.stop(); // fails unless it ends in order
    assert.equal(server.output().split('spans could not be sent').length, 2, server.output());
    await collector.close();
  });

  for (const [what, answer] of [
    ['breaks off', { behaviour: 'drop' }],
    ['has too much to do', { status: 429, headers: { 'retry-after': '1' } }],
    ['fails', { status: 500, body: 'out of order' }],
  ] as const) {
    it(`hold up neither requests nor the end when the collector ${what}, which the log tells once`, async () => {
      const traced = await startTracedServer({}, few);
      traced.collector.answer(...Array.from({ length: 1000 }, () => answer));
      await askOften(traced.server.url, traced.quickstart.TENON_TOKEN);
      await traced.close();
      const reported = traced.lines.filter(({ msg }) => msg === 'spans could not be sent');
      assert.equal(reported.length, 1);
    });
  }

  it('are counted in the metrics', async () => {
    const waiting = { otelQueueSize: 3, otelBatchDelayMs: hourMs, otelBatchSize: 1000 };
    const traced = await startTracedServer({ TENON_METRICS_PORT: '0' }, waiting);
    for (let round = 0; round < 10; round++) await (await traced.call('/api/v1/apps')).bytes();
    const metrics = async () => (await fetch(`http://127.0.0.1:${traced.server.metricsPort}/metrics`)).text();
    const of = (text: string, key: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${key} `))
          ?.split(' ')[1],
      );
    let text = await metrics();
    while (!(of(text, 'tenon_spans_total{outcome="dropped"}') >= 7)) {
      await sleep(10); // a span ends when its connection is done with the answer
      text = await metrics();
    }
    assert.equal(of(text, 'tenon_spans_queued'), 3);
    assert.equal(of(text, 'tenon_spans_total{outcome="sent"}'), 0);
    await traced.close();
    assert.equal(traced.collector.received.flatMap(spansIn).length, 3);
  });
});

describe('a server without a collector', () => {
  it('loads nothing that traces, nor, without mail and passkeys, what they need', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-loaded-'));
    const loadedBy = async (settings: Readonly<Record<string, string>>) => {
      const file = join(folder, 'loaded.txt');
      const hook = new URL('./helpers/tell-loaded.mjs', import.meta.url).href;
      const options = { TELL_LOADED: file, NODE_OPTIONS: `--import=${hook}` };
      const server = await startServer({ settings: { ...options, ...settings } });
      await server.says(/ serves /); // from then on it ends in order
      await server.stop();
      return (await readFile(file, 'utf8'))
        .split('\n')
        .filter((url) =>
          /\/trace\/src\/otlp|\/tracing\/tracing|nodemailer|\/mail\/smtp|\/@simplewebauthn\/|\/typebox\//.test(url),
        );
    };
    try {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
      assert.deepEqual(
        await loadedBy({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_SAMPLER_ARG: 'nonsense' }),
        [],
      );
      assert.ok((await loadedBy(endpoint)).length > 1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('transactions on PostgreSQL', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let traced: TracedServer;
  before(async () => {
    postgres = await startPostgres();
    const { url } = await postgres.createDatabase();
    traced = await startTracedServer({ TENON_DATABASE_URL: url }, { otelQueueSize: 100_000 });
  });
  after(async () => {
    await traced.close();
    postgres.stop();
  });

  it('show each of their attempts', async () => {
    const { TENON_APP_ID } = traced.quickstart;
    const isRetried = ({ name, attributes }: SeenSpan) =>
      name === 'store.write' && Number(attributes.get('tenon.store.attempts')) > 1;
    const rename = async (name: string) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await traced.call(`/api/v1/apps/${TENON_APP_ID}`, {
        method: 'PUT',
        headers,
        body: JSON.stringify({ name }),
      });
      assert.equal(answer.status, 200, await answer.text());
      return answer;
    };
    let all: readonly SeenSpan[] = [];
    for (let round = 0; !all.some(isRetried); round++) {
      assert.ok(round < 50, 'no transaction was ever retried');
      const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => rename(`${round} ${at}`)));
      for (const answer of answers) await traced.traceOf(answer);
      all = await traced.spansWith(() => true);
    }
    const write = all.find(isRetried) ?? assert.fail();
    assert.equal(write.isError, false);
    const attempts = all.filter(({ parentSpanId }) => parentSpanId === write.spanId);
    assert.equal(attempts.length, Number(write.attributes.get('tenon.store.attempts')));
    attempts.sort((a, b) => Number(a.startNano - b.startNano));
    for (const [at, { name, attributes, spanId, isError }] of attempts.entries()) {
      const isLast = at === attempts.length - 1;
      assert.equal(name, 'store.attempt');
      assert.equal(attributes.get('db.system.name'), 'postgresql');
      assert.equal(Number(attributes.get('tenon.store.attempt')), at + 1);
      assert.equal(attributes.get('error.type'), isLast ? undefined : 'conflict');
      assert.equal(isError, !isLast);
      assert.ok(all.some(({ parentSpanId }) => parentSpanId === spanId));
    }
  });
});
