import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
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
  until,
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

  const metrics = async () => {
    const port = served.log().find(({ msg }) => msg === 'listening')?.metricsPort;
    return parseScrape(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  };
  const sample = async (name: string): Promise<number | undefined> => (await metrics()).samples.get(name);

  it('tell once that they listen, on one port, and where, and that there is a demo', () => {
    const { TENON_URL, TENON_TOKEN } = served.values;
    assert.equal(TENON_URL, served.url);
    assert.ok(TENON_TOKEN);
    assert.equal(served.output(), `${served.url}\n`);
    const lines = served.log();
    assert.equal(lines.filter(({ msg }) => msg === 'listening').length, 1);
    assert.deepEqual(
      lines
        .filter(({ msg }) => msg === 'a worker serves')
        .map(({ worker }) => worker)
        .sort(),
      [1, 2, 3],
    );
  });

  it('show at once on every connection what was published, or revoked, on another', async () => {
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

  it('allow together as many wrong passwords as one process would', async () => {
    const all = await connections(served, 6);
    const statuses: (number | undefined)[] = [];
    for (let round = 0; round < 15; round++) {
      const answer = await all[round % all.length]?.ask('/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ email: served.values.TENON_EMAIL, password: `wrong ${round}` }),
      });
      statuses.push(answer?.status);
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(5).fill(429)]);
    for (const connection of all) connection.close();
  });

  it('have one number for all that they count, and each tell of its own process', async () => {
    const name = 'tenon_http_requests_total{method="GET",route="/healthz",status="200"}';
    const before = (await sample(name)) ?? 0;
    for (const connection of await connections(served, 9)) connection.close();
    await until(async () => ((await sample(name)) ?? 0) === before + 9);
    await until(async () => (await sample('tenon_processes')) === 3);
    const { samples } = await metrics();
    assert.equal(samples.get('tenon_store_revision_trusted'), 1);
    for (const worker of ['primary', '1', '2', '3'])
      assert.ok(Number(samples.get(`nodejs_heap_size_used_bytes{worker="${worker}"}`)) > 1e6, worker);
  });

  it('leave out of the metrics who does not answer, and count that, without what was counted falling', async () => {
    const pid = served.pids(2).at(-1) ?? 0;
    const name = 'tenon_http_requests_total{method="GET",route="/healthz",status="200"}';
    const before = await metrics();
    process.kill(pid, 'SIGSTOP');
    try {
      const { samples } = await metrics();
      const missed = 'tenon_process_scrapes_missed_total';
      assert.ok(Number(samples.get('tenon_processes')) < 3);
      assert.ok(Number(samples.get(missed)) > Number(before.samples.get(missed)));
      assert.equal(samples.get(name), before.samples.get(name));
      assert.equal(samples.has('nodejs_heap_size_used_bytes{worker="2"}'), false);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await sample('tenon_processes')) === 3);
  });

  it('lose with one that is killed its own connections alone, and their places, and get another one', async () => {
    const all = await connections(served, 9);
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
      openEvents(`${served.url}/api/v1/extension-points/${served.values.TENON_EXTENSION_POINT_ID}/news`, {
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
    const refused = await follow();
    assert.equal(refused.response.status, 429, 'all workers together have four places');
    await refused.close();

    const requests = 'tenon_changes_total{action="plugin.publish"}';
    const publishes = await sample(requests);
    const pid = served.pids(1).at(-1) ?? 0;
    process.kill(pid, 'SIGKILL');
    await until(
      () => served.pids(1).at(-1) !== pid,
      () => JSON.stringify(served.log().slice(-5)),
    );
    isLoaded = false;
    await Promise.all(load);
    assert.ok(
      faults.some((count) => count > 0),
      'somebody was connected to it',
    );
    assert.ok(faults.filter((count) => count === 0).length >= 4, `others did not feel it: ${faults}`);
    assert.equal(await sample('tenon_process_exits_total'), 1);
    assert.ok(Number(await sample(requests)) >= Number(publishes), 'what it had counted stays counted');

    // The places of its streams are there again; those of others stay taken.
    const again = await Promise.all(Array.from({ length: 4 }, follow));
    const freed = again.filter(({ response }) => response.status === 200).length;
    await until(
      () => ended === freed,
      () => `${ended} streams have ended, and ${freed} places are there`,
    );
    for (const stream of [...streams, ...again]) await stream.close().catch(() => {});
    for (const connection of all) connection.close();
  });

  it('answer every request while they drain, finish what they are at, and end, when all get the signal of a terminal', async () => {
    const all = await connections(served, 9);
    const finish = await beginPublish(served);
    const path = listPath(served);
    let answered = 0;
    const untilTold = all.map(async (connection) => {
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
    await Promise.all(untilTold);
    assert.equal(await finish(), 201);
    assert.deepEqual(await served.gone, { code: 0, signal: null });
    assert.match(served.output(), /closed/);
    assert.equal(await isRefused(served.url), true);
    assert.deepEqual(
      served.log().filter(({ level, msg }) => level >= 50 && msg !== 'a worker has ended'),
      [],
    );
  });
});

describe('workers that are left alone', () => {
  let folder: string;
  let served: ServedByWorkers | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-workers-'));
  });
  after(async () => {
    if (served !== undefined) killAll(served);
    await rm(folder, { recursive: true, force: true });
  });

  it('finish what they are at, and end, when the first process is killed', async () => {
    served = await serveByWorkers(folder, 2);
    const finish = await beginPublish(served);
    served.child.kill('SIGKILL');
    await until(() => isRefused(served?.url ?? ''));
    assert.equal(await finish(), 201);
    assert.deepEqual(await served.gone, { code: null, signal: 'SIGKILL' });
  });

  it('end all with the reason when one can never begin to serve again', async () => {
    served = await serveByWorkers(folder, 2);
    const database = new DatabaseSync(join(folder, 'tenon.db'));
    database.exec("insert into schema_versions (version, name, applied_at_ms) values (999, 'of a later release', 0)");
    database.close();
    process.kill(served.pids(2).at(-1) ?? 0, 'SIGKILL');
    const { code } = await served.gone;
    assert.equal(code, 1);
    assert.equal(served.log().filter(({ msg }) => msg === 'a worker has ended').length, 5 + 1);
    assert.equal(served.log().at(-1)?.msg, 'stopped');
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

  it('show on every connection what was published on one, and end on SIGTERM', async () => {
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
