import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { raisedQuotas } from '../../../test/helpers/raised-quotas.ts';
import { until } from '../../../test/helpers/until.ts';
import { type Balancer, startBalancer } from './helpers/balancer.ts';
import { openWorkshop } from './helpers/plugins.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { assertProblem, openService } from './helpers/service.ts';
import { greeter } from './helpers/world.ts';

const script = new URL('./helpers/serve-child.ts', import.meta.url).pathname;
const nextRelease = ['--import', new URL('./helpers/next-release.mjs', import.meta.url).href];

describe('a server that drains', () => {
  it('serves all requests, closes each connection after its response, and reports that it is not ready', async () => {
    const service = await openService({ config: { logLevel: 'info' } }); // where nothing is debugged, lists have a way of their own
    try {
      const workshop = await openWorkshop(service);
      await workshop.publish(1);
      const url = await service.listen();
      const path = `/api/v1/extension-points/${workshop.extensionPointId}/bindings/first`;
      const ask = async (path: string) => {
        const asking = request(url + path, { headers: { authorization: `Bearer ${workshop.viewer.token}` } }).end();
        const [answer] = await once(asking, 'response');
        answer.resume();
        return { status: answer.statusCode, connection: answer.headers.connection };
      };
      for (const each of [path, path, '/healthz', '/readyz'])
        assert.deepEqual(await ask(each), { status: 200, connection: 'keep-alive' }, each);
      service.services.draining.isOn = true;
      service.app.closeAfterResponses();
      for (const each of [path, path, '/healthz'])
        assert.deepEqual(await ask(each), { status: 200, connection: 'close' }, each);
      assert.deepEqual(await ask('/readyz'), { status: 503, connection: 'close' });
      assertProblem(await service.call('GET', '/readyz'), 503, 'unavailable');
    } finally {
      await service.close();
    }
  });
});

describe('two nodes behind a load balancer', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let folder: string;
  let settings: Readonly<Record<string, string>>;
  let nodes: Node[];
  let balancer: Balancer;
  const children: ChildProcess[] = [];
  const faults: string[] = [];

  interface Node {
    readonly url: string;
    readonly child: ChildProcess;
    readonly log: () => string;
  }

  before(async () => {
    [postgres, objects, folder] = await Promise.all([
      startPostgres(),
      startObjectStore(['plugins']),
      mkdtemp(join(tmpdir(), 'tenon-rolling-')),
    ]);
    const { bucket, endpoint = '', credentials } = objects.options('plugins');
    settings = {
      PATH: process.env.PATH ?? '',
      TENON_DATABASE_URL: (await postgres.createDatabase()).url,
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
      TENON_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
      TENON_QUOTAS: raisedQuotas,
      TENON_TIMES: 'drain=3s', // many times what the balancer takes to notice, on a busy machine too
    };
    nodes = [await start('one'), await start('two')];
    balancer = await startBalancer(nodes.map(({ url }) => url));
  });
  after(async () => {
    await balancer?.close();
    for (const child of children) child.kill('SIGKILL');
    postgres.stop();
    await objects.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(name: string, port = '0', release: readonly string[] = []): Promise<Node> {
    const child = spawn(process.execPath, [...release, script, join(folder, name), port], {
      env: settings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    assert.equal(child.exitCode, null, log);
    child.stdout.resume();
    return { url: String(line).trim(), child, log: () => log };
  }

  const message = (): string => `faults: ${faults.slice(0, 5)}`;

  it('drop no request during a rolling restart, and lose no acknowledged change', () => restartInTurn('restarted'));

  it('drop no request during a rolling upgrade that migrates the schema', async () => {
    await restartInTurn('upgraded', nextRelease);
    await assert.rejects(start('old'), /its schema has version \d+, and this release of Tenon knows versions up to/);
    assert.ok((await fetch(`${nodes[0]?.url}/readyz`)).ok, 'a release that may not start has changed nothing');
  });

  /** Restarts each node under load, as a release, and holds what was published meanwhile to what is there. */
  async function restartInTurn(plugin: string, release: readonly string[] = []): Promise<void> {
    const values = parseEnv(await readFile(join(folder, 'one', 'quickstart.env'), 'utf8'));
    const headers = { authorization: `Bearer ${values.TENON_TOKEN}` };
    const point = `${balancer.url}/api/v1/extension-points/${values.TENON_EXTENSION_POINT_ID}`;
    const list = `${point}/bindings/${encodeURIComponent(values.TENON_GUEST_KEY ?? '')}`;
    const artifact = `${balancer.url}/api/v1/artifacts/${values.TENON_EXTENSION_POINT_ID}/plugin/${values.TENON_USER_ID}/${plugin}`;
    let isLoaded = true;
    let answered = 0;
    let published = 0;

    const expectStatus = async (what: string, asking: Promise<Response>, wanted: readonly number[]) => {
      const answer = await asking;
      const bytes = await answer.bytes();
      if (wanted.includes(answer.status)) answered++;
      else faults.push(`${what}: ${answer.status} ${Buffer.from(bytes)}`);
      return { answer, bytes };
    };
    const readLists = async (): Promise<void> => {
      let etag = '';
      while (isLoaded) {
        const asking = fetch(list, { headers: { ...headers, 'if-none-match': etag } });
        const { answer, bytes } = await expectStatus('list', asking, [200, 304]);
        etag = answer.headers.get('etag') ?? '';
        await sleep(5); // a processor that has nothing else to do shows no more
        if (answer.status !== 200) continue;
        for (const { contentAddress } of Object.values<{ contentAddress: string }>(
          JSON.parse(String(Buffer.from(bytes))),
        ))
          await expectStatus('content', fetch(`${balancer.url}/api/v1/c/${contentAddress}`, { headers }), [200]);
      }
    };
    const publish = async (): Promise<void> => {
      while (isLoaded) {
        const body = greeter(published + 1);
        const asking = fetch(artifact, {
          method: 'PUT',
          headers: { ...headers, 'content-type': 'application/wasm' },
          body,
        });
        const { answer } = await expectStatus('publish', asking, [200, 201]);
        if (answer.ok) published++;
        await sleep(100);
      }
    };
    await until(() => nodes.every(({ url }) => balancer.isReady(url)), { message });
    const noting = (work: Promise<void>) => work.catch((error: unknown) => void faults.push(String(error)));
    const load = Promise.all([readLists(), readLists(), readLists(), publish()].map(noting));

    for (const [index, name] of ['one', 'two'].entries()) {
      const { child, url, log } = nodes[index] as Node;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await until(() => !balancer.isReady(url), { message });
      assert.equal(child.exitCode, null, 'it is found to stop while it still serves');
      assert.deepEqual(await exited, [0, null], log());
      nodes[index] = await start(name, new URL(url).port, release);
      await until(() => balancer.isReady(url), { message });
      const before = balancer.sent.get(url) ?? 0;
      await until(() => (balancer.sent.get(url) ?? 0) > before + 10, { message });
    }
    isLoaded = false;
    await load;

    assert.deepEqual({ faults, dropped: balancer.dropped }, { faults: [], dropped: [] });
    assert.ok(published > 2 && answered > published, `${answered} answered, ${published} of them published`);
    for (const { url } of nodes) {
      const answer = await fetch(
        `${url}/api/v1/extension-points/${values.TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(values.TENON_GUEST_KEY ?? '')}`,
        { headers },
      );
      const { [plugin]: bound } = (await answer.json()) as Record<string, { contentAddress: string }>;
      const content = await fetch(`${url}/api/v1/c/${bound?.contentAddress}`, { headers });
      assert.deepEqual(
        Buffer.from(await content.bytes()),
        Buffer.from(greeter(published)),
        'the last that was acknowledged',
      );
    }
  }
});
