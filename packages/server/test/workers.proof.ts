import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import { openEvents } from './helpers/event-stream.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { parseScrape } from './helpers/prometheus-text.ts';
import { connectTo, readAnswer, requestOf } from './helpers/wire.ts';
import {
  type Connection,
  type ConnectionAnswer,
  killAll,
  openConnection,
  type ServedByWorkers,
  serveByWorkers,
} from './helpers/workers.ts';
import { greeter, sampleModule } from './helpers/world.ts';

/** Opens connections, which the workers get in turn. */
async function connections(served: ServedByWorkers, count: number): Promise<Connection[]> {
  const opened = Array.from({ length: count }, () => openConnection(served.url, served.values.TENON_TOKEN));
  for (const connection of opened) assert.equal((await connection.ask('/healthz')).status, 200);
  return opened;
}

const listPath = ({ values }: ServedByWorkers): string =>
  `/api/v1/extension-points/${values.TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(values.TENON_GUEST_KEY ?? '')}`;

const artifactPath = ({ values }: ServedByWorkers): string =>
  `/api/v1/artifacts/${values.TENON_EXTENSION_POINT_ID}/plugin/${values.TENON_USER_ID}/by-workers`;

const publish = (served: ServedByWorkers, connection: Connection, number: number): Promise<ConnectionAnswer> =>
  connection.ask(artifactPath(served), {
    method: 'PUT',
    headers: { 'content-type': 'application/wasm' },
    body: greeter(number),
  });

/** A publish of which half was sent, and what sends the rest. */
async function beginPublish(served: ServedByWorkers): Promise<() => Promise<number>> {
  const socket = connectTo(served.url);
  const lines = [
    `PUT ${artifactPath(served)}-slowly HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${served.values.TENON_TOKEN}`,
    'content-type: application/wasm',
    'expect: 100-continue',
    `content-length: ${sampleModule.length}`,
  ];
  socket.write(requestOf(lines));
  await once(socket, 'data'); // it may go on: it is being answered
  socket.write(sampleModule.subarray(0, 100));
  return async () => {
    const answered = readAnswer(socket);
    socket.write(sampleModule.subarray(100));
    return (await answered).status;
  };
}

async function isRefused(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );
}

describe('three workers on the embedded store', () => {
  let folder: string;
  let served: ServedByWorkers;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-workers-'));
    served = await serveByWorkers(folder, 3, {
      TENON_METRICS_PORT: '0',
      TENON_RATES: 'sign-in-tries-per-minute=1000,account-tries-per-hour=1', // and ten wrong passwords at once
      TENON_LIMITS: 'streams-per-account=4',
      TENON_TIMES: 'drain=4s',
    });
  });
  after(async () => {
    killAll(served);
    await rm(folder, { recursive: true, force: true });
  });

  /** What each worker has counted. */
  const samples = (name: string): Promise<(number | undefined)[]> =>
    Promise.all(
      [1, 2, 3].map(async (number) => {
        const line = served.log().findLast(({ msg, worker }) => msg === 'listening' && worker === number);
        const scrape = await fetch(`http://127.0.0.1:${line?.metricsPort}/metrics`);
        return parseScrape(await scrape.text()).samples.get(name);
      }),
    );
  const total = async (name: string): Promise<number> =>
    (await samples(name)).reduce((sum: number, value) => sum + (value ?? 0), 0);

  it('listen on one port, which the first process reports once, with the demo', () => {
    const { TENON_URL, TENON_TOKEN } = served.values;
    assert.equal(TENON_URL, served.url);
    assert.ok(TENON_TOKEN);
    assert.equal(served.output(), `${served.url}\n`);
    const lines = served.log();
    const listening = lines.filter(({ msg }) => msg === 'listening');
    assert.deepEqual(listening.map(({ worker }) => worker).sort(), [1, 2, 3]);
    assert.deepEqual([...new Set(listening.map(({ url }) => url))], [served.url]);
  });

  it('serve publishes and revocations at once on every connection', async () => {
    const all = await connections(served, 6);
    const path = listPath(served);
    const seen = async () => Promise.all(all.map((connection) => connection.ask(path)));
    await seen(); // from memory, from now on
    for (const [index, connection] of all.entries()) {
      assert.ok([200, 201].includes((await publish(served, connection, index)).status ?? 0));
      const lists = await seen();
      assert.deepEqual([...new Set(lists.map(({ status }) => status))], [200]);
      assert.equal(new Set(lists.map(({ body }) => body)).size, 1);
      const { contentAddress } = JSON.parse(lists[0]?.body ?? '')['by-workers'];
      const contents = await Promise.all(all.map((one) => one.ask(`/api/v1/c/${contentAddress}`)));
      for (const { status, body } of contents)
        assert.deepEqual([status, body], [200, greeter(index).toString()], `round ${index}`);

      const made = await connection.ask('/api/v1/tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'for a moment' }),
      });
      const { id, token } = JSON.parse(made.body);
      const withIt = { headers: { authorization: `Bearer ${token}` } };
      const statuses = async () =>
        (await Promise.all(all.map((one) => one.ask(path, withIt)))).map((one) => one.status);
      assert.deepEqual([...new Set(await statuses())], [200]);
      assert.equal((await connection.ask(`/api/v1/tokens/${id}`, { method: 'DELETE' })).status, 204);
      assert.deepEqual([...new Set(await statuses())], [401]);
    }
    for (const connection of all) connection.close();
  });

  it('divide the wrong passwords that one process would allow', async () => {
    const all = await connections(served, 12);
    const statuses: (number | undefined)[] = [];
    for (let round = 0; round < 60; round++) {
      const answer = await all[round % all.length]?.ask('/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ email: served.values.TENON_EMAIL, password: `wrong ${round}` }),
      });
      statuses.push(answer?.status);
    }
    const wrong = statuses.filter((status) => status === 401).length;
    assert.ok(wrong >= 3 && wrong <= 9, `a third of ten each: ${wrong}`);
    assert.deepEqual([...new Set(statuses)], [401, 429]);
    for (const connection of all) connection.close();
  });

  it('count separately, each on its own metrics port', async () => {
    const name = 'tenon_http_requests_total{method="GET",route="/healthz",status="200"}';
    const before = await total(name);
    for (const connection of await connections(served, 9)) connection.close();
    await until(async () => (await total(name)) === before + 9);
    for (const heap of await samples('nodejs_heap_size_used_bytes')) assert.ok(Number(heap) > 1e6);
    assert.deepEqual(await samples('tenon_store_revision_trusted'), [1, 1, 1]);
  });

  it('accept no connections while they are suspended, and the others do', async () => {
    const pid = served.pids(2).at(-1) ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      for (const connection of await connections(served, 20)) connection.close();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it('lose only the connections and slots of a killed worker, and replace it', async () => {
    const all: Connection[] = [];
    // The kernel decides which worker gets a connection.
    await until(async () => {
      all.push(...(await connections(served, 3)));
      const [own = 0, ...others] = await samples('tenon_http_connections');
      return own > 0 && others.reduce((sum: number, count = 0) => sum + count, 0) >= 4;
    });
    const path = listPath(served);
    const faults = all.map(() => 0);
    let isLoaded = true;
    const load = all.map(async (connection, index) => {
      while (isLoaded) {
        const answer = await connection.ask(path).catch(() => undefined);
        if (answer?.status !== 200) faults[index] = (faults[index] ?? 0) + 1;
      }
    });
    const follow = () =>
      openEvents(`${served.url}/api/v1/extension-points/${served.values.TENON_EXTENSION_POINT_ID}/changes`, {
        token: served.values.TENON_TOKEN ?? '',
      });
    const streams = await Promise.all(Array.from({ length: 4 }, follow));
    assert.deepEqual([...new Set(streams.map(({ response }) => response.status))], [200]);
    let ended = 0;
    for (const stream of streams) {
      void (async () => {
        while ((await stream.next().catch(() => undefined)) !== undefined);
        ended++;
      })();
    }
    const pid = served.pids(1).at(-1) ?? 0;
    process.kill(pid, 'SIGKILL');
    await until(() => served.pids(1).at(-1) !== pid, { message: () => JSON.stringify(served.log().slice(-5)) });
    isLoaded = false;
    await Promise.all(load);
    assert.ok(
      faults.some((count) => count > 0),
      'it had connections',
    );
    assert.ok(faults.filter((count) => count === 0).length >= 4, `others did not feel it: ${faults}`);
    assert.equal(served.log().filter(({ msg }) => msg === 'worker exited').length, 1);
    const open = await total('tenon_change_streams');
    await until(() => ended + open === 4, { message: () => `${ended} streams have ended, and ${open} are open` });
    for (const stream of streams) await stream.close().catch(() => {});
    for (const connection of all) connection.close();
  });

  it('serve every request while they drain, finish running requests, and end, when all get the signal of a terminal', async () => {
    const all = await connections(served, 9);
    const finish = await beginPublish(served);
    const path = listPath(served);
    let answered = 0;
    const untilReported = all.map(async (connection) => {
      for (;;) {
        const { status, headers } = await connection.ask(path);
        assert.equal(status, 200);
        answered++;
        if (headers.connection === 'close') return;
      }
    });
    await until(() => answered > 30);
    assert.ok(served.child.pid);
    process.kill(-served.child.pid, 'SIGINT');
    await Promise.all(untilReported);
    assert.equal(await finish(), 201);
    assert.deepEqual(await served.gone, { code: 0, signal: null });
    assert.match(served.output(), /closed/);
    assert.equal(await isRefused(served.url), true);
    assert.deepEqual(
      served.log().filter(({ level, msg }) => level >= 50 && msg !== 'worker exited'),
      [],
    );
  });
});

describe('orphaned workers', () => {
  let folder: string;
  let served: ServedByWorkers | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-workers-'));
  });
  after(async () => {
    if (served !== undefined) killAll(served);
    await rm(folder, { recursive: true, force: true });
  });

  it('finish running requests, and end, when the first process is killed', async () => {
    served = await serveByWorkers(folder, 2);
    const finish = await beginPublish(served);
    served.child.kill('SIGKILL');
    await until(() => isRefused(served?.url ?? ''));
    assert.equal(await finish(), 201);
    assert.deepEqual(await served.gone, { code: null, signal: 'SIGKILL' });
  });

  it('restart a worker that cannot start to serve, while the others serve', async () => {
    served = await serveByWorkers(folder, 2);
    const { child, url, log } = served;
    const database = new DatabaseSync(join(folder, 'tenon.db'));
    database.exec("insert into schema_versions (version, name, applied_at_ms) values (999, 'of a later release', 0)");
    const pid = served.pids(2).at(-1) ?? 0;
    process.kill(pid, 'SIGKILL');
    const exits = () => log().filter(({ msg }) => msg === 'worker exited').length;
    await until(() => exits() >= 3); // killed, and failed to start twice
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    database.exec('delete from schema_versions where version = 999');
    database.close();
    await until(() => served?.pids(2).at(-1) !== pid);
    child.kill('SIGTERM');
    assert.deepEqual(await served.gone, { code: 0, signal: null });
  });

  it('end all with the reason when one can not begin to serve at the start', async () => {
    const database = new DatabaseSync(join(folder, 'tenon.db'));
    database.exec("insert into schema_versions (version, name, applied_at_ms) values (999, 'of a later release', 0)");
    database.close();
    await assert.rejects(serveByWorkers(folder, 2), /its schema has version 999/);
  });
});

describe('three workers on PostgreSQL', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let folder: string;
  let served: ServedByWorkers | undefined;
  before(async () => {
    [postgres, folder] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'tenon-workers-'))]);
  });
  after(async () => {
    if (served !== undefined) killAll(served);
    postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('serve publishes on every connection, and end on SIGTERM', async () => {
    const { url } = await postgres.createDatabase();
    served = await serveByWorkers(folder, 3, { TENON_DATABASE_URL: url });
    const all = await connections(served, 6);
    const path = listPath(served);
    const [first] = all;
    assert.ok(first);
    assert.equal((await publish(served, first, 1)).status, 201);
    for (const connection of all) {
      await until(async () => {
        const { status, body } = await connection.ask(path);
        assert.equal(status, 200);
        return 'by-workers' in JSON.parse(body);
      });
      assert.equal((await connection.ask('/readyz')).status, 200);
      connection.close();
    }
    served.child.kill('SIGTERM');
    assert.deepEqual(await served.gone, { code: 0, signal: null });
  });
});
