import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ExtensionPoint, maxPageLimit, type Plugin } from '@tenon/protocol';
import type { TSchema } from 'typebox';
import { allRoutes } from '../src/routes.ts';
import { addExtensionPoints, addGuests } from './helpers/many.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import {
  invite,
  type List,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeWorld,
  ok,
  publishAs,
  tinyModule,
  type World,
} from './helpers/world.ts';

let service: TestService;
let world: World;
before(async () => {
  service = await openService();
  world = await makeWorld(service);
});
after(() => service.close());

const api = '/api/v1';

describe('lists', () => {
  it('have pages of `limit` entries, whose cursors lead through all entries', async () => {
    const { owner } = world;
    const { token } = owner;
    const appId = await makeApp(service, owner);
    const extensionPointId = await makeExtensionPoint(service, owner, appId);
    const user = await service.user();
    await makeGuest(service, owner, appId, 'k', user);
    for (let count = 0; count < 7; count++) {
      await publishAs(service, user, extensionPointId, `p${count}`, tinyModule(count));
      await invite(service, owner, appId, `more-${count}`);
    }
    for (const path of [
      `/extension-points/${extensionPointId}/plugins`,
      `/apps/${appId}/guests`,
      `/apps/${appId}/invitations`,
    ]) {
      const whole = await ok<List<Plugin>>(service, 'GET', api + path, { token });
      assert.ok(whole.objects.length >= 7);
      assert.equal(whole.nextCursor, undefined);
      for (const limit of [1, 3, whole.objects.length, 1000]) {
        const collected: unknown[] = [];
        let query = `?limit=${limit}`;
        for (;;) {
          const page = await ok<List<Plugin>>(service, 'GET', `${api}${path}${query}`, { token });
          assert.ok(page.objects.length <= limit);
          collected.push(...page.objects);
          if (page.nextCursor === undefined) break;
          query = `?limit=${limit}&cursor=${encodeURIComponent(page.nextCursor)}`;
        }
        assert.deepEqual(collected, whole.objects, `${path} by ${limit}`);
      }
    }
  });

  it('reject invalid limits', async () => {
    const { token } = world.owner;
    for (const limit of ['0', '-1', '1001', '1.5', 'x', '', '1e3', '9'.repeat(30)]) {
      assertProblem(await service.call('GET', `${api}/apps?limit=${limit}`, { token }), 400, 'invalid_request');
    }
    assertProblem(await service.call('GET', `${api}/apps?limit=1&limit=2`, { token }), 400, 'invalid_request');
    assert.equal((await service.call('GET', `${api}/apps?other=1&other=2`, { token })).statusCode, 200);
    assert.equal((await service.call('GET', `${api}/apps?limit=5&cursor=none`, { token })).statusCode, 200);
    assertProblem(await service.call('GET', `${api}/apps?limit=5&cursor=%00`, { token }), 400, 'invalid_request');
  });
});

describe('every list', () => {
  it('accepts a limit with a maximum, and a cursor', () => {
    // These are short: a release adds one version to each package; a version has at most six tests and ten attestations, an extension point 20
    // simulations, and an account one identity for each provider.
    const isShort = (path: string) =>
      path === '/packages' || /\/(simulations|simulation-runs|attestations|identities)$/.test(path);
    const lists = allRoutes.filter(
      ({ method, path, responses }) =>
        method === 'GET' &&
        !isShort(path) &&
        Object.values(responses).some(({ schema, orJson }) => isList(schema) || isList(orJson?.schema)),
    );
    assert.ok(lists.length >= 12);
    for (const { method, path, query } of lists) {
      const { limit, cursor } = (query?.properties ?? {}) as Record<string, { maximum?: number }>;
      assert.equal(limit?.maximum, maxPageLimit, `${method} ${path}`);
      assert.ok(cursor !== undefined, `${method} ${path}`);
    }
  });

  it('returns 100 entries without a limit, except the list of extension points, which is complete', async () => {
    const service = await openService();
    try {
      const owner = await service.user();
      const { token } = owner;
      const appId = await makeApp(service, owner);
      await addGuests(service, appId, 101);
      const { objects, nextCursor } = await ok<List<unknown>>(service, 'GET', `${api}/apps/${appId}/guests`, { token });
      assert.equal(objects.length, 100);
      const rest = `${api}/apps/${appId}/guests?cursor=${nextCursor}`;
      const last = await ok<List<unknown>>(service, 'GET', rest, { token });
      assert.deepEqual([last.objects.length, last.nextCursor], [1, undefined]);

      await addExtensionPoints(service, appId, 101, '{"exports":{}}');
      const path = `${api}/apps/${appId}/extension-points`;
      const whole = await ok<List<ExtensionPoint>>(service, 'GET', path, { token });
      assert.deepEqual([whole.objects.length, whole.nextCursor], [101, undefined]);
      const head = await service.call('HEAD', path, { token });
      const body = await service.call('GET', path, { token });
      assert.equal(head.headers['content-length'], String(body.rawPayload.length));
      assert.equal(body.headers['content-type'], 'application/json; charset=utf-8');
    } finally {
      await service.close();
    }
  });
});

function isList(schema: TSchema | undefined): boolean {
  const { objects, nextCursor } = ((schema as { properties?: object } | undefined)?.properties ?? {}) as Record<
    string,
    unknown
  >;
  return objects !== undefined && nextCursor !== undefined;
}

describe('a public URL with a path prefix', () => {
  it('works with and without the prefix, and is in the links', async () => {
    const prefixed = await openService({ config: { publicUrl: 'https://plugins.example/tenon' } });
    try {
      const user = await prefixed.user();
      const appId = await makeApp(prefixed, user);
      const { token } = user;
      assert.equal((await prefixed.call('GET', `/tenon/api/v1/apps/${appId}`, { token })).statusCode, 200);
      assert.equal((await prefixed.call('GET', `/api/v1/apps/${appId}`, { token })).statusCode, 200);
      const { link } = await ok<{ link: string }>(prefixed, 'POST', `/tenon/api/v1/apps/${appId}/guests`, {
        token,
        json: { deliveryMethod: 'link', guestKey: 'a/b' },
      });
      assert.match(link, /^https:\/\/plugins\.example\/tenon\/accept-invite\?code=/);
      const extensionPointId = await makeExtensionPoint(prefixed, user, appId);
      const list = await prefixed.call('GET', `/tenon/api/v1/extension-points/${extensionPointId}/bindings/a/b`, {
        token,
      });
      assert.equal(list.payload, '{}');
      const { type } = assertProblem(await prefixed.call('GET', '/tenon/nothing'), 404, 'not_found');
      assert.match(type, /^https:\/\/plugins\.example\/tenon\/reference\/errors#not_found$/);
      assertProblem(await prefixed.call('GET', '/tenonx/healthz'), 404, 'not_found');
    } finally {
      await prefixed.close();
    }
  });
});
