import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Approval,
  type Guest,
  maxCounted,
  type Plugin,
  type PluginBinding,
  type PluginSummary,
} from '@tenon/protocol';
import { addGuests } from './helpers/many.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import {
  invite,
  type List,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  ok,
  publishAs,
  tinyModule,
} from './helpers/world.ts';

const api = '/api/v1';

describe('lists with search', () => {
  let service: TestService;
  let owner: TestUser;
  let appId: string;
  before(async () => {
    service = await openService();
    owner = await service.user('Olivia Owner');
    appId = await makeApp(service, owner);
  });
  after(() => service.close());

  const list = <T>(path: string, query: Record<string, string | number> = {}, token = owner.token) => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return ok<List<T>>(service, 'GET', `${api}${path}?${search}`, { token });
  };

  describe('of guests', () => {
    const keys = ['customers/2', 'Customers/10', '100%', 'a_b', 'axb', 'é', 'É'];
    let grace: TestUser;
    before(async () => {
      grace = await service.user('Grace Hopper');
      for (const key of keys) await invite(service, owner, appId, key);
      await makeGuest(service, owner, appId, 'held', grace);
      const json = { guestKey: 'noted', name: 'Milton Waddams', email: 'milton@initech.example' };
      await ok(service, 'POST', `${api}/apps/${appId}/guests`, { token: owner.token, json });
    });
    const found = async (query: Record<string, string>) =>
      (await list<Guest>(`/apps/${appId}/guests`, { sort: 'guestKey', ...query })).objects.map(
        ({ guestKey }) => guestKey,
      );

    it('finds a text in the guest key, a user, or an invitation, and takes wildcards literally', async () => {
      assert.deepEqual(await found({ q: 'CUSTOMERS' }), ['customers/2', 'Customers/10']);
      assert.deepEqual(await found({ q: '%' }), ['100%']);
      assert.deepEqual(await found({ q: 'a_b' }), ['a_b']);
      assert.deepEqual(await found({ q: '!' }), []);
      assert.deepEqual(await found({ q: 'é' }), ['é'], 'only ASCII letters match in either case');
      assert.deepEqual(await found({ q: 'hopper' }), ['held']);
      assert.deepEqual(await found({ q: grace.id }), ['held']);
      assert.deepEqual(await found({ q: 'waddams' }), ['noted']);
      assert.deepEqual(await found({ q: '@Initech' }), ['noted']);
      const [noted] = (await list<Guest>(`/apps/${appId}/guests`, { q: 'waddams' })).objects;
      assert.deepEqual(
        [noted?.latestInvitation?.name, noted?.latestInvitation?.email, noted?.latestInvitation?.status],
        ['Milton Waddams', 'milton@initech.example', 'pending'],
      );
    });

    it('filters by state, and by a whole guest key', async () => {
      assert.deepEqual(await found({ guestKey: 'customers/2' }), ['customers/2']);
      assert.deepEqual(await found({ guestKey: 'customers' }), []);
      assert.deepEqual(await found({ state: 'active' }), ['held']);
      assert.deepEqual(await found({ state: 'invited', q: 'customers' }), ['customers/2', 'Customers/10']);
      assert.deepEqual(await found({ state: 'inactive' }), []);
    });

    it('sorts as people do, in both directions, by pages that lead forth and back', async () => {
      const sorted = ['100%', 'a_b', 'axb', 'customers/2', 'Customers/10', 'held', 'noted', 'é', 'É'];
      assert.deepEqual((await found({})).toSorted(), sorted.toSorted());
      assert.deepEqual((await found({})).slice(0, 7), sorted.slice(0, 7));
      for (const sort of ['guestKey', '-guestKey', 'createdAt', '-createdAt']) {
        const path = `/apps/${appId}/guests`;
        const whole = await list<Guest>(path, { sort });
        assert.deepEqual(
          [whole.total, whole.nextCursor, whole.previousCursor],
          [keys.length + 2, undefined, undefined],
        );
        const pages = [await list<Guest>(path, { sort, limit: 4 })];
        for (;;) {
          const cursor = pages.at(-1)?.nextCursor;
          if (cursor === undefined) break;
          pages.push(await list<Guest>(path, { sort, limit: 4, cursor }));
        }
        assert.equal(pages.length, 3);
        assert.deepEqual(
          pages.flatMap(({ objects }) => objects),
          whole.objects,
        );
        for (const { total } of pages) assert.equal(total, keys.length + 2);
        const back = await list<Guest>(path, { sort, limit: 4, cursor: pages[2]?.previousCursor ?? '' });
        assert.deepEqual(back, pages[1]);
        const first = await list<Guest>(path, { sort, limit: 4, cursor: back.previousCursor ?? '' });
        assert.deepEqual(first.objects, pages[0]?.objects);
        assert.equal(first.previousCursor, undefined);
      }
    });

    it('refuses what it does not know, and cursors of another order', async () => {
      const path = `${api}/apps/${appId}/guests`;
      const { nextCursor = '' } = await list<Guest>(`/apps/${appId}/guests`, { limit: 1, sort: 'guestKey' });
      const cursor = encodeURIComponent(nextCursor);
      const refused = [
        'sort=name',
        'sort=--guestKey',
        'state=all',
        `q=${'a'.repeat(201)}`,
        'q=%00',
        `cursor=${cursor}`,
        `sort=-guestKey&cursor=${cursor}`,
        'sort=guestKey&cursor=gst_x',
      ];
      for (const query of refused) {
        const answer = await service.call('GET', `${path}?${query}`, { token: owner.token });
        assertProblem(answer, 400, 'invalid_request');
      }
      for (const forged of [
        'guestKey:x',
        'guestKey:["a"]',
        'guestKey:[1,2]',
        'guestKey:["\\u0000","b"]',
        '<guestKey:{}',
      ]) {
        const page = await list(`/apps/${appId}/guests`, { sort: 'guestKey', cursor: forged });
        assert.deepEqual(page.objects, []);
      }
    });

    it('lists the invitations to one guest, the newest first', async () => {
      const held = (await list<Guest>(`/apps/${appId}/guests`, { q: 'held' })).objects[0]?.id ?? '';
      await invite(service, owner, appId, 'held');
      const path = `/apps/${appId}/invitations`;
      const invitations = await list<{ guestId: string; status: string }>(path, { guestId: held, sort: '-createdAt' });
      assert.deepEqual(
        invitations.objects.map(({ guestId, status }) => [guestId, status]),
        [
          [held, 'pending'],
          [held, 'accepted'],
        ],
      );
      assert.deepEqual((await list(path, { guestId: 'gst_x' })).objects, []);
    });
  });

  it('counts entries up to a maximum', async () => {
    const large = await makeApp(service, owner);
    await addGuests(service, large, maxCounted + 2);
    const page = await list<Guest>(`/apps/${large}/guests`, { limit: 1 });
    assert.equal(page.total, maxCounted + 1);
    assert.equal((await list<Guest>(`/apps/${large}/guests`, { limit: 1, q: 'k999' })).total, 11);
  });

  describe('of plugins and bindings', () => {
    let ada: TestUser;
    let bob: TestUser;
    let point: string;
    before(async () => {
      ada = await service.user('Ada Lovelace');
      bob = await service.user('Bob');
      const plugins = await makeApp(service, owner);
      point = await makeExtensionPoint(service, owner, plugins);
      for (const key of ['secret-10', 'secret-9']) await makeGuest(service, owner, plugins, key, ada);
      await makeGuest(service, owner, plugins, 'other', bob);
      for (const [number, name] of ['p10', 'p9', 'Q'].entries())
        await publishAs(service, ada, point, name, tinyModule(number));
      await publishAs(service, bob, point, 'bobs', tinyModule(9));
      const json = { reason: 'why' };
      const block = `${api}/artifacts/${point}/plugin/${bob.id}/bobs/block`;
      await ok(service, 'PUT', block, { token: owner.token, json });
    });
    const names = async (query: Record<string, string>, token = owner.token) =>
      (await list<Plugin>(`/extension-points/${point}/plugins`, query, token)).objects.map(({ name }) => name);

    it('finds, filters, and sorts plugins', async () => {
      assert.deepEqual(await names({}), ['bobs', 'p9', 'p10', 'Q']);
      assert.deepEqual(await names({ sort: '-publishedAt' }), ['bobs', 'Q', 'p9', 'p10']);
      assert.deepEqual(await names({ q: 'lovelace', sort: '-name' }), ['Q', 'p10', 'p9']);
      assert.deepEqual(await names({ userId: ada.id, q: 'p' }), ['p9', 'p10']);
      assert.deepEqual(await names({ name: 'p9' }), ['p9']);
      assert.deepEqual(await names({ name: 'p' }), []);
      assert.deepEqual(await names({ state: 'blocked' }), ['bobs']);
      assert.deepEqual(await names({ state: 'published', q: 'secret-9' }), ['p9', 'p10', 'Q']);
    });

    it('lists the plugins of all extension points of an application', async () => {
      const { appId: id } = await ok<{ appId: string }>(service, 'GET', `${api}/extension-points/${point}`, {
        token: owner.token,
      });
      const other = await makeExtensionPoint(service, owner, id);
      await publishAs(service, ada, other, 'p1', tinyModule(70));
      const path = `/apps/${id}/plugins`;
      const found = async (query: Record<string, string> = {}, token = owner.token) =>
        (await list<PluginSummary>(path, query, token)).objects.map(({ name }) => name);
      assert.deepEqual(await found(), ['bobs', 'p1', 'p9', 'p10', 'Q']);
      assert.deepEqual(await found({ sort: '-name' }), ['Q', 'p10', 'p9', 'p1', 'bobs']);
      assert.deepEqual(await found({ sort: '-publishedAt', limit: '1' }), ['p1']);
      assert.deepEqual(await found({ extensionPointId: other }), ['p1']);
      assert.deepEqual(await found({ extensionPointId: 'ext_none' }), []);
      assert.deepEqual(await found({ isBound: 'false' }), ['bobs']);
      assert.deepEqual(await found({ isBound: 'true', extensionPointId: point }), ['p9', 'p10', 'Q']);
      assert.deepEqual(await found({ state: 'blocked' }), ['bobs']);
      assert.deepEqual(await found({ q: 'secret-9', extensionPointId: other }), ['p1']);
      assert.deepEqual(await found({ q: 'other' }), ['bobs']);

      const first = await list<PluginSummary>(path, { limit: 3, sort: 'name' });
      const rest = await list<PluginSummary>(path, { limit: 3, sort: 'name', cursor: first.nextCursor ?? '' });
      assert.deepEqual(
        [first.total, rest.objects.map(({ name }) => name), rest.nextCursor],
        [5, ['p10', 'Q'], undefined],
      );
      const [summary] = (await list<PluginSummary>(path, { name: 'p9' })).objects;
      assert.deepEqual([summary?.activeVersions, summary?.guestCount, summary?.user.name], [[1], 2, 'Ada Lovelace']);
      assert.deepEqual(summary?.guests.map(({ guestKey }) => guestKey).toSorted(), ['secret-10', 'secret-9']);

      assert.deepEqual(await found({}, ada.token), ['p1', 'p9', 'p10', 'Q'], 'a guest sees its own');
      assert.deepEqual(await found({ userId: bob.id }, ada.token), ['p1', 'p9', 'p10', 'Q']);
      assert.deepEqual(await found({ q: 'secret' }, ada.token), []);
      const own = await service.call('GET', `${api}${path}`, { token: ada.token });
      assert.ok(!own.payload.includes('secret'), 'and no guest keys');
      const json = { name: 'Cell functions' };
      const { extensionPoint } = summary ?? {};
      assert.equal(extensionPoint?.id, point);
      await ok(service, 'PUT', `${api}/extension-points/${other}`, { token: owner.token, json });
      assert.equal((await list<PluginSummary>(path, { name: 'p1' })).objects[0]?.extensionPoint.name, json.name);
      await ok(service, 'DELETE', `${api}/extension-points/${other}`, { token: owner.token });
      assert.deepEqual(await found({ name: 'p1' }), []);
      for (const query of ['isBound=yes', 'sort=size', `q=${'a'.repeat(201)}`, 'limit=0']) {
        assertProblem(
          await service.call('GET', `${api}${path}?${query}`, { token: owner.token }),
          400,
          'invalid_request',
        );
      }
    });

    it('counts the plugins of the requesting user at each extension point', async () => {
      const { appId: id } = await ok<{ appId: string }>(service, 'GET', `${api}/extension-points/${point}`, {
        token: ada.token,
      });
      const counts = async (token: string, query = {}) =>
        (await list<{ ownPlugins: number }>(`/apps/${id}/extension-points`, query, token)).objects.map(
          ({ ownPlugins }) => ownPlugins,
        );
      assert.deepEqual(await counts(ada.token), [3]);
      assert.deepEqual(await counts(bob.token, { limit: 1 }), [1]);
      assert.deepEqual(await counts(owner.token), [0]);
    });

    it('shows a guest only its own plugins, and nothing about guest keys', async () => {
      assert.deepEqual(await names({}, ada.token), ['p9', 'p10', 'Q']);
      assert.deepEqual(await names({ userId: bob.id }, ada.token), ['p9', 'p10', 'Q']);
      assert.deepEqual(await names({ q: 'secret' }, ada.token), []);
      const path = `/artifacts/${point}/plugin/${ada.id}/p9/bindings`;
      const own = await list<PluginBinding>(path, {}, ada.token);
      assert.deepEqual(
        own.objects.map(({ guestKey, version }) => [guestKey, version]),
        [
          [undefined, 1],
          [undefined, 1],
        ],
      );
      for (const query of ['q=secret', 'sort=guestKey', 'sort=-guestKey']) {
        const answer = await service.call('GET', `${api}${path}?${query}`, { token: ada.token });
        assertProblem(answer, 403, 'forbidden');
      }
      assertProblem(await service.call('GET', api + path, { token: bob.token }), 404, 'not_found');
    });

    it("lists a plugin's bindings with the guest keys for the team", async () => {
      const path = `/artifacts/${point}/plugin/${ada.id}/p9/bindings`;
      const keys = async (query: Record<string, string>) =>
        (await list<PluginBinding>(path, query)).objects.map(({ guestKey }) => guestKey);
      assert.deepEqual(await keys({ sort: 'guestKey' }), ['secret-9', 'secret-10']);
      assert.deepEqual(await keys({ sort: '-guestKey', limit: '1' }), ['secret-10']);
      assert.deepEqual(await keys({ q: 'T-9' }), ['secret-9']);
      const first = await list<PluginBinding>(path, { sort: 'guestKey', limit: 1 });
      const second = await list<PluginBinding>(path, { sort: 'guestKey', limit: 1, cursor: first.nextCursor ?? '' });
      assert.deepEqual([first.total, second.objects[0]?.guestKey, second.nextCursor], [2, 'secret-10', undefined]);
    });

    it('finds versions that await approval', async () => {
      const app = await makeApp(service, owner);
      const strict = await makeExtensionPoint(service, owner, app);
      const json = { requiresApproval: true };
      await ok(service, 'PUT', `${api}/extension-points/${strict}`, { token: owner.token, json });
      await makeGuest(service, owner, app, 'k', ada);
      for (const name of ['one', 'two']) await publishAs(service, ada, strict, name, tinyModule(name.length + 20));
      const path = `/apps/${app}/approvals`;
      assert.equal((await list<Approval>(path, { limit: 1 })).total, 2);
      const found = await list<Approval>(path, { q: 'tw' });
      assert.deepEqual([found.objects.map(({ name }) => name), found.total], [['two'], 1]);
    });
  });

  it('of members, applications, and extension points are found and sorted by name', async () => {
    const user = await service.user('zoe');
    const team = { viewer: await service.user('Yann'), admin: await service.user('Xenia') };
    const app = await makeApp(service, user, team);
    const members = async (query: Record<string, string>) =>
      (await list<{ name: string }>(`/apps/${app}/members`, query, user.token)).objects.map(({ name }) => name);
    assert.deepEqual(await members({ sort: 'role' }), ['zoe', 'Xenia', 'Yann']);
    assert.deepEqual(await members({ sort: 'name' }), ['Xenia', 'Yann', 'zoe']);
    assert.deepEqual(await members({ q: 'EN' }), ['Xenia']);
    const paths = { apps: '/apps', points: `/apps/${app}/extension-points` };
    for (const name of ['beta', 'Alpha', 'gamma']) {
      await ok(service, 'POST', api + paths.apps, { token: user.token, json: { name } });
      await ok(service, 'POST', api + paths.points, { token: user.token, json: { name } });
    }
    for (const path of Object.values(paths)) {
      const named = async (query: Record<string, string>) =>
        (await list<{ name: string }>(path, query, user.token)).objects.map(({ name }) => name);
      assert.deepEqual(await named({ sort: 'name', q: 'A' }).then((names) => names.filter((name) => name !== 'Acme')), [
        'Alpha',
        'beta',
        'gamma',
      ]);
      assert.deepEqual(
        (await named({ sort: '-name' })).filter((name) => /^(beta|alpha|gamma)$/i.test(name)),
        ['gamma', 'beta', 'Alpha'],
      );
      assert.deepEqual(await named({ q: 'GAMM' }), ['gamma']);
    }
  });
});
