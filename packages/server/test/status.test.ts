import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { newId, type ServerStatus } from '@tenon/protocol';
import { collect } from '../src/domain/housekeeping/collect.ts';
import { createSetUpLink } from '../src/domain/one-time-links.ts';
import { createReadiness } from '../src/domain/readiness.ts';
import { noteChore } from '../src/domain/status/chores.ts';
import { grantOperator, revokeOperator } from '../src/domain/status/operators.ts';
import { createStatusReader } from '../src/domain/status/read.ts';
import { allRoutes } from '../src/http/routes/all.ts';
import { startBeats } from '../src/status/beats.ts';
import { kindsOfRoutes, streamRoutes } from '../src/status/request-totals.ts';
import { goodPassword, openJar } from './helpers/jar.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeApp, makeExtensionPoint, makeGuest, ok, publishAs, tinyModule } from './helpers/world.ts';

const path = '/api/v1/status';

async function openOperator(service: TestService): Promise<TestUser> {
  const user = await service.user('Olga');
  await grantOperator(service.parts.context, user.id);
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

  it('is for operators, of whom nobody is one by being an owner or a guest', async () => {
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

  it('takes a token that may read, and is not restricted to one application', async () => {
    const appId = await makeApp(service, operator);
    const within = await service.token(operator.id, { appId });
    assertProblem(await refused(within), 403, 'forbidden');
    const withoutRead = await service.token(operator.id, { scopes: ['publish', 'manage'] });
    assertProblem(await refused(withoutRead), 403, 'insufficient_scope');
    await read(await service.token(operator.id, { scopes: ['read'] }));
  });

  it('gives its operators no right on what others have', async () => {
    const owner = await service.user('Owner');
    const appId = await makeApp(service, owner);
    assertProblem(await service.call('GET', `/api/v1/apps/${appId}`, { token: operator.token }), 404, 'not_found');
  });

  it('is closed at once to who is an operator no more', async () => {
    const once = await openOperator(service);
    await read(once.token);
    await revokeOperator(service.parts.context, once.id);
    assertProblem(await refused(once.token), 403, 'forbidden');
  });

  it('is kept by nobody on its way, and open to other origins as the rest of the interface is', async () => {
    const response = await service.call('GET', path, {
      token: operator.token,
      headers: { origin: 'https://a.example' },
    });
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.headers['access-control-allow-credentials'], undefined);
  });

  it('tells of this process, of the stores, and of how much there is', async () => {
    const { metadata, blobs, counts, processes } = await read();
    assert.deepEqual([metadata.kind, metadata.isReachable], ['sqlite', true]);
    assert.match(metadata.version ?? '', /^3\./);
    assert.ok((metadata.bytes ?? 0) > 0 && (metadata.schemaVersion ?? 0) >= 1 && metadata.knowsCommits);
    assert.deepEqual([blobs.kind, blobs.isReachable], ['folder', true]);
    assert.ok((counts?.accounts.value ?? 0) > 0);
    const [own, ...others] = processes;
    assert.deepEqual(others, []);
    assert.ok(own?.isAnswering);
    assert.equal(own.state, 'ready');
    assert.equal(own.pid, process.pid);
    assert.ok((own.report?.memory.residentBytes ?? 0) > 0);
  });

  it('counts anew once what was counted is a minute old', async () => {
    const owner = await service.user('Owner');
    const before = (await read()).counts;
    const appId = await makeApp(service, owner);
    const at = await makeExtensionPoint(service, owner, appId);
    await makeGuest(service, owner, appId, 'key', owner);
    await publishAs(service, owner, at, 'counted', tinyModule(3));
    assert.deepEqual((await read()).counts, before);
    service.advance(61_000);
    const { counts } = await read();
    assert.equal(counts?.plugins.value, (before?.plugins.value ?? 0) + 1);
    assert.equal(counts?.contentBytes.value, (before?.contentBytes.value ?? 0) + tinyModule(3).length);
    assert.notEqual(counts?.countedAt, before?.countedAt);
  });

  it('estimates how much there is of what is too much to count', async () => {
    const database = new DatabaseSync(join(service.dataDir, 'tenon.db'));
    try {
      database.exec(`
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 20000)
        insert into blobs (address, size, state, generation, "leaseUntilMs")
        select 'estimated-' || n, 100, 'present', 'e', 0 from numbers`);
      const { contents, contentBytes } = await service.store.sizes();
      assert.ok(contents.isEstimate && contentBytes.isEstimate);
      assert.ok(Math.abs(contents.value - 20_000) < 1_000, String(contents.value));
      assert.ok(Math.abs(contentBytes.value - 2_000_000) < 100_000, String(contentBytes.value));
    } finally {
      database.exec("delete from blobs where generation = 'e'");
      database.close();
    }
  });

  it('tells when chores were last done, and what they came to', async () => {
    const { context } = service.parts;
    assert.deepEqual((await read()).chores, { collect: null, verify: null, backup: null });
    await collect(context, { graceMs: 1000, isDryRun: true });
    assert.equal((await read()).chores.collect, null, 'a dry run is none');
    await collect(context, { graceMs: 1000 });
    await noteChore(context, 'verify', { contents: 9, faults: 2 });
    const { collect: collected, verify, backup } = (await read()).chores;
    assert.deepEqual([collected?.deleted, collected?.deletedBytes], [0, 0]);
    assert.deepEqual([verify?.contents, verify?.faults, backup], [9, 2, null]);
  });

  it('tells that a store is away, and neither why nor where it is', async () => {
    const away = () => Promise.reject(new Error('https://key:secret@objects.example'));
    const there = await openService({
      replace({ context, ownProcess }) {
        const readiness = createReadiness({ store: context.store, blobs: { ping: away, pingWrite: away } });
        return { status: createStatusReader({ ...context, readiness, own: ownProcess }) };
      },
    });
    try {
      const { token } = await openOperator(there);
      const response = await there.call('GET', path, { token });
      const { blobs, metadata } = response.json<ServerStatus>();
      assert.deepEqual([blobs.isReachable, blobs.pingMs, metadata.isReachable], [false, null, true]);
      assert.doesNotMatch(response.payload, /secret|objects\.example/);
    } finally {
      await there.close();
    }
  });

  it('knows the routes that it counts apart', () => {
    const routes = new Set(allRoutes.flatMap(({ method, path: at }) => [`${method} ${at}`, `HEAD ${at}`]));
    for (const route of [...kindsOfRoutes.keys(), ...streamRoutes]) assert.ok(routes.has(route), route);
  });
});

describe('the processes of a status', () => {
  let service: TestService;
  let operator: TestUser;
  before(async () => {
    service = await openService();
    operator = await openOperator(service);
  });
  after(() => service.close());

  const others = async () => {
    const { processes } = await ok<ServerStatus>(service, 'GET', path, { token: operator.token });
    return processes.filter(({ isAnswering }) => !isAnswering);
  };
  const put = (fields: { id: ReturnType<typeof newId<'process'>>; reportJson: string }) =>
    service.store.write((tx) =>
      tx.putProcess({ node: 'elsewhere', pid: 7, version: '9.9.9', startedAtMs: 1_700_000_000_000, ...fields }),
    );

  it('are those that tell of themselves, until they stop in order', async () => {
    const { context, ownProcess, log } = service.parts;
    const another = { ...ownProcess, id: newId('process'), node: 'another' };
    const beats = startBeats(context, another, log);
    await beats.beat();
    const [found] = await others();
    assert.deepEqual([found?.id, found?.node, found?.state], [another.id, 'another', 'ready']);
    assert.equal(found?.report?.nodeVersion, process.versions.node);
    await beats.stop();
    assert.deepEqual(await others(), []);
  });

  it("log once that the clock differs from the database's, by seconds, until it does not", async () => {
    const { context, ownProcess, log } = service.parts;
    const another = { ...ownProcess, id: newId('process'), node: 'another' };
    let aheadMs = 0;
    const beats = startBeats({ ...context, clock: () => Date.now() + aheadMs }, another, log);
    const told = () => service.logged.filter((line) => line.includes("the database's differ"));
    await beats.beat();
    assert.deepEqual(told(), []);
    for (const [next, lines] of [
      [3_600_000, 1],
      [3_600_000, 1],
      [0, 1],
      [-3_600_000, 2],
    ] as const) {
      aheadMs = next;
      await beats.beat();
      assert.equal(told().length, lines);
      const { reasons } = await another.report();
      const side = next > 0 ? 'ahead of' : 'behind';
      assert.equal(reasons.length, next === 0 ? 0 : 1);
      if (next !== 0)
        assert.match(reasons[0] ?? '', new RegExp(`^its clock is 3[56]\\d\\d seconds ${side} the database's$`));
    }
    assert.match(told()[0] ?? '', /"aheadMs":3[56]\d{5}\b/);
    assert.match(told()[1] ?? '', /"aheadMs":-3[56]\d{5}\b/);
    await beats.stop();
  });

  it('are told of although their version tells something else of itself', async () => {
    for (const reportJson of ['{"a":1}', 'nonsense', 'null']) {
      const id = newId('process');
      await put({ id, reportJson });
      const [found] = await others();
      assert.deepEqual([found?.state, found?.report, found?.version], ['ready', null, '9.9.9'], reportJson);
      await service.store.write((tx) => tx.deleteProcess(id));
    }
  });

  it('are lost once nobody has heard of them for a minute, and forgotten after a day', async () => {
    const report = JSON.stringify(await service.parts.ownProcess.report());
    const id = newId('process');
    await put({ id, reportJson: report });
    const database = new DatabaseSync(join(service.dataDir, 'tenon.db'));
    const silence = (ms: number) =>
      void database.prepare('update processes set lastSeenAtMs = lastSeenAtMs - ?').run(ms);
    try {
      silence(50_000);
      assert.equal((await others())[0]?.state, 'ready');
      silence(20_000);
      const [found] = await others();
      assert.equal(found?.state, 'lost');
      assert.ok(Date.now() - Date.parse(found.lastSeenAt) >= 69_000);
      await service.store.write((tx) => tx.deleteSilentProcesses(24 * 60 * 60_000));
      assert.equal((await others()).length, 1);
      silence(24 * 60 * 60_000);
      await service.store.write((tx) => tx.deleteSilentProcesses(24 * 60 * 60_000));
      assert.deepEqual(await others(), []);
    } finally {
      database.close();
    }
  });

  it('are not ready where they said so, and say why', async () => {
    const { ownProcess } = service.parts;
    const report = await ownProcess.report();
    const id = newId('process');
    await put({ id, reportJson: JSON.stringify({ ...report, isReady: false, reasons: ['the blob store is full'] }) });
    const [found] = await others();
    assert.equal(found?.state, 'not_ready');
    assert.deepEqual(found?.report?.reasons, ['the blob store is full']);
    await put({ id, reportJson: JSON.stringify({ ...report, isReady: false, isStopping: true }) });
    assert.equal((await others())[0]?.state, 'stopping');
    await service.store.write((tx) => tx.deleteProcess(id));
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

  it('is who opens the link for the first account, and nobody else', async () => {
    const { code } = await createSetUpLink(service.parts.context, true);
    const first = await signUp('first', code);
    assert.equal(first.isOperator, true);
    const another = await createSetUpLink(service.parts.context, false);
    assert.equal((await signUp('second', another.code)).isOperator, false);
    assert.equal((await signUp('third')).isOperator, false);
    const trail = await service.store.read.auditOfAll({ action: 'operator.grant' }, { limit: 9 });
    assert.deepEqual(
      trail.map(({ by, targetName, details }) => ({ by, targetName, details })),
      [{ by: 'operator', targetName: 'first', details: { means: 'first_account' } }],
    );
  });

  it('is not who came first where sign-up is open', async () => {
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
