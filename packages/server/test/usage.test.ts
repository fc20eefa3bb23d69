import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { UsageReport, UsageSeriesList } from '@tenon/protocol';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeExtensionPoint, makeWorld, ok, publishAs, tinyModule, type World } from './helpers/world.ts';

const dayMs = 24 * 3_600_000;
const json = { accept: 'application/json' };

describe('usage', () => {
  let service: TestService;
  let world: World;
  let base: string;
  before(async () => {
    service = await openService({ config: { logLevel: 'info' } });
    world = await makeWorld(service);
    base = await service.listen();
  });
  after(() => service.close());
  // Each test has days without requests of the others.
  beforeEach(async () => {
    service.advance(2 * dayMs);
    const renewed: Record<string, TestUser> = {};
    for (const name of ['owner', 'admin', 'viewer', 'guest', 'otherGuest', 'stranger'] as const) {
      const { id } = world[name];
      renewed[name] = { id, token: await service.token(id, { lifetimeMs: 4 * dayMs }) };
    }
    world = { ...world, ...renewed };
  });

  const flush = () => service.services.usage.flush();
  const listPath = (guestKey = world.guestKey, point = world.extensionPointId) =>
    `/api/v1/extension-points/${point}/bindings/${encodeURIComponent(guestKey)}`;
  const read = async (path: string, { token }: Pick<TestUser, 'token'>, headers = {}, method = 'GET') => {
    const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
    await response.arrayBuffer();
    return response;
  };
  const times = async (count: number, work: () => Promise<unknown>) => {
    for (let time = 0; time < count; time++) await work();
  };
  const report = (path: string, { token }: Pick<TestUser, 'token'> = world.viewer, query = 'days=1') =>
    ok<UsageReport>(service, 'GET', `/api/v1/${path}/usage?${query}`, { token, headers: json });
  const paths = () => ({
    app: `apps/${world.appId}`,
    point: `extension-points/${world.extensionPointId}`,
    guest: `apps/${world.appId}/guests/${world.guestId}`,
    plugin: `artifacts/${world.plugin.id}`,
  });
  const totals = async () => {
    await flush();
    const counts: Record<string, [number, number]> = {};
    for (const [name, path] of Object.entries(paths())) {
      const { listRequests, contentFetches } = (await report(path)).totals;
      counts[name] = [listRequests, contentFetches];
    }
    return counts;
  };
  const all = (lists: number, fetches: number) => ({
    app: [lists, fetches],
    point: [lists, fetches],
    guest: [lists, fetches],
    plugin: [lists, fetches],
  });

  it('is zero for what was never used, and null for its last use', async () => {
    const { totals, points, lastUsedAt, versions, userAgents } = await report(paths().plugin, world.viewer, '');
    assert.deepEqual(totals, { listRequests: 0, contentFetches: 0, tokens: 0 });
    assert.equal(points.length, 30);
    assert.deepEqual([lastUsedAt, versions, userAgents], [null, [], []]);
  });

  it('counts 200 and 304 of lists, from the cache and without it, and whole contents', async () => {
    const { etag = '' } = Object.fromEntries((await read(listPath(), world.admin)).headers);
    await times(3, () => read(listPath(), world.admin));
    const unchanged = { 'if-none-match': etag };
    await times(2, async () => assert.equal((await read(listPath(), world.admin, unchanged)).status, 304));
    await times(2, () => read(listPath(), world.admin, { origin: 'https://host.example' }));
    const content = `/api/v1/c/${world.plugin.contentAddress}`;
    await times(4, () => read(content, world.admin));
    assert.equal((await read(content, world.admin, { range: 'bytes=0-3' })).status, 206);
    assert.deepEqual(await totals(), all(8, 5));
  });

  it('does not count HEAD, the rest of a content, 304 of a content, and errors', async () => {
    const content = `/api/v1/c/${world.plugin.contentAddress}`;
    const wrong = { 'if-match': '"other"' };
    await times(2, async () => {
      assert.equal((await read(listPath(), world.admin, {}, 'HEAD')).status, 200);
      assert.equal((await read(listPath(), world.admin, wrong)).status, 412);
      assert.equal((await read(listPath(), world.stranger)).status, 404);
      assert.equal((await read(listPath(), world.guest)).status, 403);
      assert.equal((await read(listPath(), { token: 'nonsense' })).status, 401);
      assert.equal((await read(content, world.admin, {}, 'HEAD')).status, 200);
      assert.equal((await read(content, world.admin, { range: 'bytes=4-' })).status, 206);
      assert.equal((await read(content, world.admin, { range: 'bytes=99999-' })).status, 416);
      assert.equal((await read(content, world.admin, wrong)).status, 412);
      const known = { 'if-none-match': `"${world.plugin.contentAddress}"` };
      assert.equal((await read(content, world.admin, known)).status, 304);
      assert.equal((await read(content, world.stranger)).status, 404);
    });
    assert.deepEqual(await totals(), all(0, 0));
  });

  it('counts for the application and extension point only if no guest has the key', async () => {
    await times(3, () => read(listPath('nobody'), world.admin));
    assert.deepEqual(await totals(), { ...all(0, 0), app: [3, 0], point: [3, 0] });
  });

  it('counts a content for the guests whose lists the same token requested', async () => {
    const content = `/api/v1/c/${world.plugin.contentAddress}`;
    await read(listPath(), world.admin);
    await read(content, world.owner);
    assert.deepEqual(await totals(), { ...all(1, 1), guest: [1, 0] });
    await read(content, world.admin);
    assert.deepEqual((await totals()).guest, [1, 0]); // since the last write, this token has requested no list
  });

  it('counts distinct tokens per day and over the period', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 5 }, () => service.token(world.admin.id, { lifetimeMs: 4 * dayMs })),
    );
    for (const token of tokens) await times(2, () => read(listPath(), { token }));
    await flush();
    service.advance(dayMs);
    for (const token of tokens.slice(2)) await read(listPath(), { token });
    await read(listPath(), world.admin);
    await flush();
    const { totals: sums, points } = await report(paths().guest, world.viewer, 'days=2');
    assert.deepEqual(
      points.map(({ tokens }) => tokens),
      [5, 4],
    );
    assert.equal(sums.tokens, 6);
  });

  it('counts by hour and day in UTC', async () => {
    const untilMidnight = dayMs - (service.services.deps.clock() % dayMs);
    service.advance(untilMidnight - 1000);
    await times(2, () => read(listPath(), world.admin));
    service.advance(2000);
    await times(3, () => read(listPath(), world.admin));
    await flush();
    const byDay = await report(paths().guest, world.viewer, 'days=2');
    assert.deepEqual(
      byDay.points.map(({ listRequests }) => listRequests),
      [2, 3],
    );
    const byHour = await report(paths().guest, world.viewer, 'days=2&by=hour');
    assert.equal(byHour.points.length, 48);
    assert.deepEqual(
      byHour.points.map(({ listRequests }, hour) => [hour, listRequests]).filter(([, count]) => count !== 0),
      [
        [23, 2],
        [24, 3],
      ],
    );
    assert.equal(byHour.points[24]?.at, byDay.points[1]?.at);
  });

  it('counts versions by lists, contents, and reports of what is loaded', async () => {
    const { plugin, guest, extensionPointId } = world;
    const one = await publishAs(service, guest, extensionPointId, 'reported', tinyModule(41));
    const loaded = (...addresses: string[]) => ({ 'tenon-loaded': addresses.join(', '), 'if-none-match': '"x"' });
    await times(2, () => read(listPath(), world.admin, loaded(one.contentAddress, plugin.contentAddress)));
    await flush();
    const two = await publishAs(service, guest, extensionPointId, 'reported', tinyModule(42));
    await times(3, () => read(listPath(), world.admin, loaded(one.contentAddress)));
    await read(listPath(), world.admin, loaded(two.contentAddress));
    await flush();
    const { versions } = await report(`artifacts/${two.id}`);
    const counts = versions.map(({ number, listRequests, loadReports }) => [number, listRequests, loadReports]);
    assert.deepEqual(counts, [
      [2, 4, 1],
      [1, 2, 5],
    ]);
    assert.ok(versions.every(({ lastReportedAt }) => lastReportedAt !== null));
    const ofGuest = await report(paths().guest);
    assert.deepEqual(
      ofGuest.versions.map(({ pluginId, number, loadReports }) => [pluginId, number, loadReports]).sort(),
      [
        [plugin.id, 1, 2],
        [two.id, 1, 5],
        [two.id, 2, 1],
      ].sort(),
    );
  });

  it('ignores malformed reports, and those of contents that are not of the list', async () => {
    const other = await makeExtensionPoint(service, world.owner, world.appId);
    const elsewhere = await publishAs(service, world.guest, other, 'elsewhere', tinyModule(77));
    const { contentAddress } = world.plugin;
    const malformed = ['', ',', 'x', `${contentAddress},x`, `${contentAddress};`, 'A'.repeat(5000), '../../etc/passwd'];
    const tooMany = Array.from({ length: 17 }, (_, at) => contentAddress.slice(0, -2) + String(at).padStart(2, '0'));
    for (const header of [...malformed, tooMany.join(','), elsewhere.contentAddress, `${'A'.repeat(43)}`]) {
      assert.equal((await read(listPath(), world.admin, { 'tenon-loaded': header })).status, 200);
    }
    await flush();
    assert.deepEqual((await report(paths().guest)).versions, []);
    assert.ok((await report(paths().plugin)).versions.every(({ loadReports }) => loadReports === 0));
  });

  it('reduces user agents, and counts those beyond 20 as "other"', async () => {
    const send = (agent: string) => read(listPath(), world.admin, { 'user-agent': agent });
    await times(3, () => send('tenon-client/0.1.0 (node; arm64) secret=tnn_abcdef'));
    await send('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0');
    for (const odd of [
      'tnn_0123456789abcdef',
      'ada@example.org',
      '10.1.2.3',
      '😀',
      'A'.repeat(3000),
      '=cmd()',
      'x/1',
    ]) {
      await send(encodeURIComponent(odd) === odd || odd.includes('@') || odd.includes('=') ? odd : 'é/1');
    }
    await flush();
    const { userAgents } = await report(paths().guest);
    assert.deepEqual(userAgents, [
      { userAgent: 'other', requests: 7 },
      { userAgent: 'tenon-client/0.1.0', requests: 3 },
      { userAgent: 'Mozilla/5.0', requests: 1 },
    ]);
    for (let version = 0; version < 100; version++) await send(`flood/${version}`);
    await flush();
    const flooded = (await report(paths().guest)).userAgents;
    assert.equal(flooded.length, 21);
    assert.equal(
      flooded.reduce((sum, { requests }) => sum + requests, 0),
      111,
    );
  });

  it('shows a publisher its own plugins, without the tokens and programs of the host', async () => {
    await times(2, () => read(listPath(), world.admin));
    await flush();
    const own = await report(paths().plugin, world.guest);
    assert.deepEqual(own.totals, { listRequests: 2, contentFetches: 0, tokens: null });
    assert.deepEqual([own.userAgents, own.points.map(({ tokens }) => tokens)], [[], [null]]);
    const series = (user: TestUser) =>
      ok<UsageSeriesList>(
        service,
        'GET',
        `/api/v1/apps/${world.appId}/usage/series?days=2&ids=${encodeURIComponent([world.guestId, world.plugin.id, world.appId, 'gst_x'].join(','))}`,
        { token: user.token },
      );
    const idsFor = async (user: TestUser) => (await series(user)).objects.map(({ id }) => id);
    assert.deepEqual(await idsFor(world.viewer), [world.guestId, world.plugin.id, world.appId]);
    assert.deepEqual(await idsFor(world.guest), [world.plugin.id]);
    assert.deepEqual(await idsFor(world.otherGuest), []);
    const [first] = (await series(world.viewer)).objects;
    assert.deepEqual(first?.listRequests, [0, 2]);
    assert.equal(first?.lastUsedAt, first?.lastListRequestAt);
    assert.ok(Math.abs(Date.parse(first?.lastUsedAt ?? '') - service.services.deps.clock()) < 60_000);
  });

  it('is not counted for browser sessions', async () => {
    const { usage } = service.services;
    assert.equal(usage.cell({ tokenId: 'tok_1', sessionId: 'ses_1' }, undefined as never), undefined);
  });

  it('has CSV with the same numbers', async () => {
    await times(2, () => read(listPath(), world.admin));
    await flush();
    const path = `/api/v1/${paths().guest}/usage?days=2`;
    const { token } = world.viewer;
    const byFormat = await service.call('GET', `${path}&format=csv`, { token });
    const byAccept = await service.call('GET', path, { token, headers: { accept: 'text/csv' } });
    assert.equal(byFormat.payload, byAccept.payload);
    assert.match(String(byFormat.headers['content-type']), /^text\/csv/);
    assert.match(
      byFormat.payload,
      /^day,list_requests,content_fetches,tokens\r\n[\d-]{10},0,0,0\r\n[\d-]{10},2,0,1\r\n$/,
    );
  });

  it('rejects invalid queries', async () => {
    const { token } = world.viewer;
    const invalid = [
      'days=0',
      'days=401',
      'days=1&from=2026-01-01',
      'from=2026-13-01',
      'from=2026-02-30',
      'from=2026-03-02&to=2026-03-01',
      'from=2020-01-01&to=2026-01-01',
      'by=hour&days=32',
      'by=minute',
      'format=xml',
    ];
    for (const query of invalid) {
      const response = await service.call('GET', `/api/v1/${paths().app}/usage?${query}`, { token });
      assert.equal(response.statusCode, 400, query);
    }
    const many = Array.from({ length: 101 }, (_, at) => `gst_${at}`).join(',');
    for (const query of ['', 'ids=', 'ids=,', `ids=${many}`, `ids=${world.appId}&days=91`]) {
      const response = await service.call('GET', `/api/v1/${paths().app}/usage/series?${query}`, { token });
      assert.equal(response.statusCode, 400, query);
    }
  });

  it('writes nothing when nothing was requested', async () => {
    await flush();
    const { revision } = service.services.deps.store;
    const before = revision();
    await flush();
    assert.equal(revision(), before);
  });

  it('ends with what it belongs to', async () => {
    const { token } = world.owner;
    const point = await makeExtensionPoint(service, world.owner, world.appId);
    const plugin = await publishAs(service, world.guest, point, 'gone', tinyModule(90));
    await read(listPath(world.guestKey, point), world.admin);
    await read(`/api/v1/c/${plugin.contentAddress}`, world.admin);
    await flush();
    const { read: queries } = service.services.deps.store;
    const ids = [point, plugin.id, world.guestId];
    assert.equal((await queries.usageSubjects(ids)).length, 3);
    await ok(service, 'DELETE', `/api/v1/artifacts/${plugin.id}`, { token });
    assert.deepEqual((await queries.usageSubjects(ids)).map(({ id }) => id).sort(), [point, world.guestId].sort());
    await read(listPath(world.guestKey, point), world.admin); // is counted after the deletion
    await ok(service, 'DELETE', `/api/v1/extension-points/${point}`, { token });
    await flush();
    assert.deepEqual(
      (await queries.usageSubjects(ids)).map(({ id }) => id),
      [world.guestId],
    );
    await ok(service, 'DELETE', `/api/v1/apps/${world.appId}`, { token });
    assert.deepEqual(await queries.usageSubjects([world.appId, world.guestId, world.plugin.id]), []);
  });
});
