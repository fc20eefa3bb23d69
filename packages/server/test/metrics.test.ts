import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { loadConfig, type RunningServer, readQuickstart, serve } from '../src/index.ts';
import { definitions } from '../src/ops/metrics/definitions.ts';
import { parseScrape, type Scrape } from './helpers/prometheus-text.ts';
import { sampleModule } from './helpers/world.ts';

const list = '/api/v1/extension-points/:extensionPointId/bindings/*';

describe('GET /metrics', () => {
  let dataDir: string;
  let server: RunningServer;
  let start: Readonly<Record<string, string>>;
  let metrics: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tenon-metrics-'));
    const config = loadConfig({ dataDir, port: '0', metricsPort: '0' }, {});
    server = await serve({ ...config, moduleWorkers: 1, passwordThreads: 1 }, pino({ level: 'silent' }));
    start = Object.fromEntries(readQuickstart(dataDir));
    metrics = `http://127.0.0.1:${server.metricsPort}/metrics`;
  });
  after(async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const text = async (): Promise<string> => (await fetch(metrics)).text();
  const scrape = async (): Promise<Scrape> => parseScrape(await text());
  const call = (path: string, { headers, ...init }: RequestInit = {}): Promise<Response> =>
    fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${start.TENON_TOKEN}`, ...headers } });
  const lists = (): string =>
    `/api/v1/extension-points/${start.TENON_EXTENSION_POINT_ID}/bindings/${start.TENON_GUEST_KEY}`;

  /** How much each sample grew while something was done. A request counts once its connection is done with it. */
  async function grown(work: () => Promise<unknown>): Promise<(key: string) => number> {
    const before = await scrape();
    await work();
    for (;;) {
      const { samples } = await scrape();
      if (samples.get('tenon_http_requests_in_progress') === 0)
        return (key) => (samples.get(key) ?? 0) - (before.samples.get(key) ?? 0);
      await sleep(5);
    }
  }

  it('returns all metrics in the Prometheus format', async () => {
    const response = await fetch(metrics);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const { types } = parseScrape(await response.text());
    const expected = Object.entries(definitions).map(([name, { type }]) => [name, type]);
    assert.deepEqual([...types], expected);
  });

  it('counts requests by route, method and status, including cached responses', async () => {
    const of = await grown(async () => {
      const first = await call(lists());
      await first.text();
      const etag = String(first.headers.get('etag'));
      for (let round = 0; round < 3; round++) await call(lists(), { headers: { 'if-none-match': etag } });
      await (await call(lists(), { headers: { authorization: 'Bearer not-a-token' } })).text();
      await (await call('/nothing/here')).text();
      await (await call('/healthz', { method: 'DELETE' })).text();
    });
    const requests = (method: string, route: string, status: string) =>
      of(`tenon_http_requests_total{method="${method}",route="${route}",status="${status}"}`);
    assert.equal(requests('GET', list, '200'), 1);
    assert.equal(requests('GET', list, '304'), 3);
    assert.equal(requests('GET', list, '401'), 1);
    assert.equal(requests('GET', '(none)', '404'), 1);
    assert.equal(requests('DELETE', '(none)', '405'), 1);
    assert.equal(of(`tenon_http_request_duration_seconds_count{method="GET",route="${list}"}`), 5);
    assert.equal(of('tenon_response_cache_hits_total'), 3);
  });

  it('counts clients that disconnect before the response', async () => {
    const app = `/api/v1/apps/${start.TENON_APP_ID}/changes`;
    const controller = new AbortController();
    const response = await call(app, { signal: controller.signal });
    await response.body?.getReader().read();
    assert.equal((await scrape()).samples.get('tenon_change_streams'), 1);
    const of = await grown(async () => controller.abort());
    const route = '/api/v1/apps/:appId/changes';
    assert.equal(of(`tenon_http_requests_total{method="GET",route="${route}",status="aborted"}`), 1);
    assert.equal(of('tenon_change_streams'), -1);
  });

  it('counts publishes, worker tasks, transactions and store reads', async () => {
    const { TENON_EXTENSION_POINT_ID: extensionPoint, TENON_USER_ID: user, TENON_API_KEY: apiKey } = start;
    const publish = (body: Uint8Array<ArrayBuffer>) =>
      call(`/api/v1/artifacts/${extensionPoint}/plugin/${user}/counted`, {
        method: 'PUT',
        body,
        headers: { 'content-type': 'application/wasm' },
      });
    // The sample again, with a custom section: other bytes, so that they are put.
    const bytes = new Uint8Array([...sampleModule, 0, 3, 1, 0x78, 0]);
    const of = await grown(async () => {
      const published = await publish(bytes);
      assert.equal(published.status, 201, await published.clone().text());
      const { contentAddress } = (await published.json()) as { contentAddress: string };
      for (let round = 0; round < 3; round++) await (await call(`/api/v1/c/${contentAddress}`)).bytes();
      assert.equal((await publish(new Uint8Array([1, 2, 3]))).status, 422);
      const form = new FormData();
      form.set('wasm', new Blob([bytes]));
      const headers = { authorization: `Bearer ${apiKey}` };
      const traced = await call('/instrument', { method: 'POST', body: form, headers });
      assert.equal(traced.status, 200);
      await traced.bytes();
    });
    assert.equal(of('tenon_changes_total{action="plugin.publish"}'), 1);
    const task = (kind: string) => `pool="modules",task="${kind}"`;
    assert.equal(of(`tenon_worker_tasks_total{${task('check')},outcome="done"}`), 2);
    assert.equal(of(`tenon_worker_tasks_total{${task('instrument')},outcome="done"}`), 1);
    assert.equal(of(`tenon_worker_task_duration_seconds_count{${task('instrument')}}`), 1);
    assert.ok(of('tenon_store_transactions_total{outcome="committed"}') > 0);
    assert.ok(of('tenon_store_transaction_duration_seconds_count') > 0);
    assert.ok(of('tenon_cache_requests_total{result="hit"}') > 0);
    assert.ok(of('tenon_cache_requests_total{result="miss"}') > 0);
    assert.equal(of('tenon_blob_requests_total{operation="put",outcome="done"}'), 1);
    assert.equal(of('tenon_blob_written_bytes_total'), bytes.length);
    assert.equal(of('tenon_blob_requests_total{operation="open",outcome="done"}'), 1);
    assert.equal(of('tenon_blob_read_bytes_total'), bytes.length);
    assert.equal(of('tenon_content_cache_requests_total{result="miss"}'), 1);
    assert.equal(of('tenon_content_cache_requests_total{result="hit"}'), 2);
    assert.equal(of('tenon_content_cache_bytes'), bytes.length);
  });

  it('counts received and sent bytes of open and closed connections', async () => {
    const of = await grown(async () => {
      const payload = new Uint8Array(100_000);
      await (await call('/api/v1/apps', { method: 'POST', body: payload, headers: { connection: 'close' } })).text();
    });
    assert.ok(of('tenon_network_received_bytes_total') > 0);
    assert.ok(of('tenon_network_sent_bytes_total') > 0);
  });

  it('has the version, the stores, and the resources of the process', async () => {
    const { samples } = await scrape();
    const [info = ''] = [...samples.keys()].filter((key) => key.startsWith('tenon_build_info'));
    assert.match(info, /version="[\d.]+",node="v\d+\.\d+\.\d+",metadata="sqlite",blobs="folder"/);
    assert.ok(Number(samples.get('process_resident_memory_bytes')) > 10_000_000);
    assert.ok(Math.abs(Number(samples.get('process_start_time_seconds')) - Date.now() / 1000) < 24 * 60 * 60);
    assert.equal(samples.get('tenon_store_revision_trusted'), 1);
    assert.ok(Number(samples.get('process_cpu_seconds_total')) > 0);
  });

  it('contains no token, id, key or path of a client', async () => {
    await (await call(`${lists()}-secret-guest?token=abc`)).text();
    await (await call('/leaky/path/tenon_secret', { method: 'PROPFIND' })).text();
    const all = await text();
    for (const [name, value] of Object.entries(start)) {
      if (/TOKEN|_ID$|KEY|PASSWORD|EMAIL/.test(name)) assert.ok(!all.includes(value), name);
    }
    assert.doesNotMatch(all, /secret|leaky|PROPFIND|not-a-token|abc/);
  });

  it('is served only on its own port, which serves nothing else', async () => {
    const [own, other, method] = await Promise.all([
      call('/metrics'),
      fetch(new URL('/healthz', metrics)),
      fetch(metrics, { method: 'POST' }),
    ]);
    assert.equal(own.status, 404);
    assert.equal(other.status, 404);
    assert.equal(method.status, 405);
    assert.equal(method.headers.get('allow'), 'GET, HEAD');
    assert.equal(await (await fetch(metrics, { method: 'HEAD' })).text(), '');
  });
});

describe('serve()', () => {
  it('opens the metrics port only if it is set', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tenon-metrics-'));
    const server = await serve({ ...loadConfig({ dataDir, port: '0' }, {}), demo: false }, pino({ level: 'silent' }));
    try {
      assert.equal(server.metricsPort, undefined);
    } finally {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
