import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { newId, type ServerStatus } from '@tenon/protocol';
import { setOperator } from '../src/auth/manage-users.ts';
import { createSetUpLink } from '../src/auth/one-time-links.ts';
import { startHeartbeat } from '../src/ops/status/heartbeat.ts';
import { createReadiness, type Readiness } from '../src/ops/status/readiness.ts';
import { kindsOfRoutes, streamRoutes, totalsOf } from '../src/ops/status/request-totals.ts';
import { createStatus, type Status } from '../src/ops/status/status.ts';
import { allRoutes } from '../src/routes.ts';
import type { Services } from '../src/services.ts';
import { goodPassword, openJar } from './helpers/jar.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeApp, makeGuest, ok } from './helpers/world.ts';

const path = '/api/v1/status';

/** The status of a service's process, with what it knows replaced. */
function statusOf(services: Services, readiness: Readiness, databaseUrl?: string): Status {
  const { deps, draining, contents, changeStreams, workers } = services;
  const settings = { ...deps.settings, databaseUrl, s3Bucket: undefined };
  const totals = () => totalsOf(undefined);
  const observed = {
    draining,
    contents,
    changeStreams,
    workers,
    passwords: workers,
    requests: undefined,
    eventLoop: undefined,
  };
  return createStatus({
    store: deps.store,
    clock: deps.clock,
    simulator: deps.simulator,
    readiness,
    settings,
    totals,
    ...observed,
  });
}

async function openOperator(service: TestService): Promise<TestUser> {
  const user = await service.user('Olga');
  await setOperator(service.services.deps, 'operator', user.id, true);
  return user;
}

describe('GET /api/v1/status', () => {
  let service: TestService;
  let operator: TestUser;
  before(async () => {
    service = await openService();
    operator = await openOperator(service);
  });
  after(() => service.close());

  const read = (token = operator.token) => ok<ServerStatus>(service, 'GET', path, { token });
  const refused = async (token: string | undefined) => service.call('GET', path, { token });

  it('is only for operators; owners and guests are none automatically', async () => {
    const [owner, guest] = [await service.user('Owner'), await service.user('Guest')];
    const appId = await makeApp(service, owner);
    await makeGuest(service, owner, appId, 'key', guest);
    for (const { token } of [owner, guest, await service.user('Stranger')]) {
      assertProblem(await refused(token), 403, 'forbidden');
    }
    assertProblem(await refused(undefined), 401, 'missing_credentials');
    assertProblem(await refused(await service.apiKey(operator.id)), 401, 'invalid_token');
    assert.equal((await refused(operator.token)).statusCode, 200);
  });

  it('requires a token with read that is not restricted to one application', async () => {
    const appId = await makeApp(service, operator);
    const within = await service.token(operator.id, { appId });
    assertProblem(await refused(within), 403, 'forbidden');
    const withoutRead = await service.token(operator.id, { scopes: ['publish', 'manage'] });
    assertProblem(await refused(withoutRead), 403, 'insufficient_scope');
    await read(await service.token(operator.id, { scopes: ['read'] }));
  });

  it("gives operators no access to other users' resources", async () => {
    const owner = await service.user('Owner');
    const appId = await makeApp(service, owner);
    assertProblem(await service.call('GET', `/api/v1/apps/${appId}`, { token: operator.token }), 404, 'not_found');
  });

  it('is closed to a former operator at once', async () => {
    const once = await openOperator(service);
    await read(once.token);
    await setOperator(service.services.deps, 'operator', once.id, false);
    assertProblem(await refused(once.token), 403, 'forbidden');
  });

  it('is not stored by caches, and allows other origins like the rest of the API', async () => {
    const response = await service.call('GET', path, {
      token: operator.token,
      headers: { origin: 'https://a.example' },
    });
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.headers['access-control-allow-credentials'], undefined);
  });

  it('shows the stores and this process', async () => {
    const { metadata, blobs, process: own, nodes } = await read();
    assert.deepEqual([metadata.kind, metadata.isReachable, metadata.knowsCommits], ['sqlite', true, true]);
    assert.deepEqual([blobs.kind, blobs.isReachable], ['folder', true]);
    assert.deepEqual([own.state, own.pid, own.reasons], ['ready', process.pid, []]);
    assert.equal(own.nodeVersion, process.versions.node);
    assert.ok(own.memory.residentBytes > 0);
    assert.deepEqual(nodes, [], 'the embedded store has no list of nodes');
  });

  it('shows that this process is stopping, and that its clock is wrong', async () => {
    const { status, draining } = service.services;
    status.setClockWarning('maintenance', 'its clock is wrong');
    draining.isOn = true;
    const { state, reasons } = (await read()).process;
    assert.deepEqual([state, reasons], ['stopping', ['its clock is wrong']]);
  });

  it('shows that a store is unavailable, but neither the cause nor its location', async () => {
    const away = () => Promise.reject(new Error('https://key:secret@objects.example'));
    const there = await openService({
      replace: (services) => ({
        status: statusOf(
          services,
          createReadiness({ store: services.deps.store, blobs: { ping: away, pingWrite: away } }),
        ),
      }),
    });
    try {
      const { token } = await openOperator(there);
      const response = await there.call('GET', path, { token });
      const { blobs, metadata, process: own } = response.json<ServerStatus>();
      assert.deepEqual([blobs.isReachable, blobs.pingMs, metadata.isReachable], [false, null, true]);
      assert.equal(own.state, 'not_ready');
      assert.match(own.reasons.join(), /^the blob store /);
      assert.doesNotMatch(response.payload, /secret|objects\.example/);
    } finally {
      await there.close();
    }
  });

  it('has a request kind for each of the main routes', () => {
    const routes = new Set(allRoutes.flatMap(({ method, path: at }) => [`${method} ${at}`, `HEAD ${at}`]));
    for (const route of [...kindsOfRoutes.keys(), ...streamRoutes]) assert.ok(routes.has(route), route);
  });
});

describe('the nodes of a status', () => {
  let service: TestService;
  let operator: TestUser;
  before(async () => {
    service = await openService({
      replace: (services) => ({ status: statusOf(services, services.readiness, 'postgresql://localhost/shared') }),
    });
    operator = await openOperator(service);
  });
  after(() => service.close());

  const nodes = async () => (await ok<ServerStatus>(service, 'GET', path, { token: operator.token })).nodes;

  it('are those with heartbeats, until they shut down', async () => {
    const { deps, status, log } = service.services;
    const heartbeat = startHeartbeat(deps, status, log);
    const another = startHeartbeat(deps, { ...status, id: newId('process'), node: 'another' }, log);
    await heartbeat.beat();
    await another.beat();
    const found = await nodes();
    assert.deepEqual(
      found.map(({ node, isResponding, isLost }) => [node, isResponding, isLost]).toSorted(),
      [
        ['another', false, false],
        [status.node, true, false],
      ].toSorted(),
    );
    await another.stop();
    assert.deepEqual(
      (await nodes()).map(({ id }) => id),
      [status.id],
    );
    await heartbeat.stop();
    assert.deepEqual(await nodes(), []);
  });

  it("log once when the clock differs from the database's by seconds", async () => {
    const { deps, status, log } = service.services;
    let aheadMs = 0;
    const heartbeat = startHeartbeat({ ...deps, clock: () => Date.now() + aheadMs }, status, log);
    const logged = () => service.logged.filter((line) => line.includes("the database's differ"));
    const reasons = async () => (await status.read()).process.reasons;
    await heartbeat.beat();
    assert.deepEqual(logged(), []);
    for (const [next, lines] of [
      [3_600_000, 1],
      [3_600_000, 1],
      [0, 1],
      [-3_600_000, 2],
    ] as const) {
      aheadMs = next;
      await heartbeat.beat();
      assert.equal(logged().length, lines);
      const found = await reasons();
      const side = next > 0 ? 'ahead of' : 'behind';
      assert.equal(found.length, next === 0 ? 0 : 1);
      if (next !== 0)
        assert.match(found[0] ?? '', new RegExp(`^its clock is 3[56]\\d\\d seconds ${side} the database's$`));
    }
    assert.match(logged()[0] ?? '', /"aheadMs":3[56]\d{5}\b/);
    assert.match(logged()[1] ?? '', /"aheadMs":-3[56]\d{5}\b/);
    await heartbeat.stop();
  });

  it('are lost after a minute without a heartbeat, and deleted after a day', async () => {
    const { deps, status, log } = service.services;
    const id = newId('process');
    await service.store.write((tx) =>
      tx.putNode({ id, node: 'elsewhere', pid: 7, version: '9.9.9', startedAtMs: 1_700_000_000_000 }),
    );
    const database = new DatabaseSync(join(service.dataDir, 'tenon.db'));
    const silence = (ms: number) => void database.prepare('update nodes set lastSeenAtMs = lastSeenAtMs - ?').run(ms);
    try {
      silence(50_000);
      assert.equal((await nodes())[0]?.isLost, false);
      silence(20_000);
      const [found] = await nodes();
      assert.deepEqual([found?.id, found?.version, found?.isLost], [id, '9.9.9', true]);
      assert.ok(Date.now() - Date.parse(found?.lastSeenAt ?? '') >= 69_000);
      const heartbeat = startHeartbeat(deps, status, log);
      await heartbeat.beat();
      assert.equal((await nodes()).length, 2);
      silence(24 * 60 * 60_000);
      await heartbeat.beat();
      assert.deepEqual(
        (await nodes()).map((node) => node.id),
        [status.id],
      );
      await heartbeat.stop();
    } finally {
      database.close();
    }
  });
});

describe('the first operator', () => {
  let service: TestService;
  before(async () => {
    service = await openService({ config: { signUp: 'open' } });
  });
  after(() => service.close());

  const signUp = async (name: string, linkCode?: string) => {
    const jar = openJar(service);
    const json = {
      name,
      email: `${name}@example.org`,
      password: goodPassword,
      ...(linkCode === undefined ? {} : { linkCode }),
    };
    const response = await jar.call('POST', '/session/sign-up', json);
    assert.ok(response.statusCode < 300, response.payload);
    return response.json<{ account: { isOperator: boolean } }>().account;
  };

  it('is only the user of the link for the first account', async () => {
    const { code } = await createSetUpLink(service.services.deps, true);
    const first = await signUp('first', code);
    assert.equal(first.isOperator, true);
    const another = await createSetUpLink(service.services.deps, false);
    assert.equal((await signUp('second', another.code)).isOperator, false);
    assert.equal((await signUp('third')).isOperator, false);
    const trail = await service.store.read.auditOfAll({ action: 'operator.grant' }, { limit: 9 });
    assert.deepEqual(
      trail.map(({ by, targetName, details }) => ({ by, targetName, details })),
      [{ by: 'operator', targetName: 'first', details: { means: 'first_account' } }],
    );
  });

  it('is not the first user if sign-up is open', async () => {
    const open = await openService({ config: { signUp: 'open' } });
    try {
      const jar = openJar(open);
      const json = { name: 'Ada', email: 'ada@example.org', password: goodPassword };
      const response = await jar.call('POST', '/session/sign-up', json);
      assert.equal(response.json<{ account: { isOperator: boolean } }>().account.isOperator, false);
    } finally {
      await open.close();
    }
  });
});
