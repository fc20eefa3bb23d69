import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BindingList } from '@tenon/protocol';
import { UnavailableError } from '../src/db/store.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { assertWireProblem, exchange, requestOf } from './helpers/wire.ts';
import { makeGuest, makeMember, makeWorld, publishAs, tinyModule, type World } from './helpers/world.ts';

describe('GET /api/v1/extension-points/:extensionPointId/bindings/* (A2)', () => {
  let service: TestService;
  let world: World;
  let base: string;
  before(async () => {
    service = await openService({ config: { logLevel: 'info' } }); // on `debug` no answer is given from memory
    base = await service.listen();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const pathOf = (key: string) => `/api/v1/extension-points/${world.extensionPointId}/bindings/${key}`;
  const read = (key: string, headers: Record<string, string> = {}, method = 'GET') =>
    service.call(method, pathOf(key), { token: world.owner.token, headers });
  /** Over a real connection, where a repeated request is answered from the response cache. */
  const fetchList = (key: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(base + pathOf(key), { method, headers: { authorization: `Bearer ${world.owner.token}`, ...headers } });

  it("returns the guest's plugins by name", async () => {
    const response = await read('customers%2Fglobex');
    assert.equal(response.statusCode, 200);
    const list = response.json<BindingList>();
    assert.deepEqual(Object.keys(list), ['median']);
    const { id, contentAddress, updatedAt } = list.median ?? {};
    assert.equal(id, `${world.extensionPointId}/plugin/${world.guest.id}/median`);
    assert.equal(contentAddress, createHash('sha256').update(tinyModule(1)).digest('base64url'));
    assert.match(updatedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.headers['cache-control'], 'private, no-cache');
    assert.equal(response.headers.vary, 'authorization');
    assert.match(String(response.headers.etag), /^"[^"]+"$/);
    const digest = createHash('sha256').update(response.payload).digest('base64');
    assert.equal(response.headers['repr-digest'], `sha-256=:${digest}:`);
  });

  it('responds the same from the cache and the store, for any origin', async () => {
    const fieldsOf = async (headers: Record<string, string>) => {
      const {
        'x-request-id': _,
        date: __,
        ...fields
      } = Object.fromEntries((await fetchList('globex', headers)).headers);
      return fields;
    };
    const afresh = await fieldsOf({});
    assert.equal(afresh['access-control-allow-origin'], '*');
    assert.deepEqual(await fieldsOf({}), afresh);
    assert.deepEqual(await fieldsOf({ origin: 'https://console.example' }), afresh);
  });

  it('rejects a token in the query and two authorization fields, even with a cached response', async () => {
    const { token } = world.owner;
    const lines = (target: string) => [`GET ${target} HTTP/1.1`, 'host: x', `authorization: Bearer ${token}`];
    const path = pathOf('globex');
    for (let times = 0; times < 2; times++) {
      assert.equal((await exchange(base, requestOf(lines(path)))).status, 200);
      const twice = requestOf([...lines(path), 'Authorization: Bearer other']);
      assertWireProblem(await exchange(base, twice), 400, 'invalid_request');
      assertWireProblem(
        await exchange(base, requestOf(lines(`${path}?access_token=${token}`))),
        400,
        'invalid_request',
      );
    }
  });

  it('accepts an unencoded key with several segments', async () => {
    assert.equal((await read('customers/globex')).payload, (await read('customers%2Fglobex')).payload);
    assert.equal((await read('customers/globex?x=y')).payload, (await read('customers%2fglobex')).payload);
  });

  it('returns {} for a key without plugins, and for an unknown key', async () => {
    const { owner, appId } = world;
    await makeGuest(service, owner, appId, 'empty', await service.user());
    for (const key of ['empty', 'never/heard/of', '%F0%9F%A6%8A', 'constructor', 'customers%252Fglobex']) {
      const response = await read(key);
      assert.equal(response.statusCode, 200, key);
      assert.equal(response.payload, '{}', key);
    }
  });

  it('sorts names by code unit, including numeric names and those of Object.prototype', async () => {
    const { owner, appId, guest, extensionPointId } = world;
    const user = await service.user();
    await makeGuest(service, owner, appId, 'order', user);
    const names = ['b', '10', '9', 'constructor', 'a.b', 'a-b', 'a_b', 'B', 'toString', 'a', '__x'.slice(2)];
    for (const [at, name] of names.entries()) {
      await publishAs(service, user, extensionPointId, name, tinyModule(100 + at));
    }
    const { payload } = await read('order');
    const written = [...payload.matchAll(/"([^"]+)":\{"id"/g)].map(([, name]) => name);
    assert.deepEqual(written, [...new Set(names)].sort());
    assert.notEqual(user.id, guest.id);
  });

  it('rejects invalid keys after authorization', async () => {
    const bad = ['', '%', '%zz', '%ff', 'a//b', 'a/../b', '%2e%2e', 'a/%2E', '/a', 'a/', 'a%00', `${'x'.repeat(513)}`];
    const ask = (key: string, token: string | undefined) => {
      const authorization = token === undefined ? [] : [`authorization: Bearer ${token}`];
      return exchange(base, requestOf([`GET ${pathOf(key)} HTTP/1.1`, 'host: x', ...authorization]));
    };
    for (const key of bad) {
      assertWireProblem(await ask(key, world.owner.token), 400, 'invalid_request');
      assertWireProblem(await ask(key, undefined), 401, 'missing_credentials');
      assertWireProblem(await ask(key, world.stranger.token), 404, 'not_found');
      assertWireProblem(await ask(key, world.guest.token), 403, 'forbidden');
    }
  });

  it('responds 304 to a matching entity tag, and 200 otherwise', async () => {
    const etag = String((await read('customers/globex')).headers.etag);
    for (const field of [etag, `W/${etag}`, '*', `"x, y", ${etag}`]) {
      const response = await read('customers/globex', { 'if-none-match': field });
      assert.equal(response.statusCode, 304, field);
      assert.equal(response.payload, '');
      assert.equal(response.headers.etag, etag);
      assert.equal(response.headers['cache-control'], 'private, no-cache');
      assert.match(String(response.headers.vary), /authorization/);
      assert.equal(response.headers['content-type'], undefined);
    }
    for (const field of ['"x"', etag.slice(1, -1), `w/${etag}`]) {
      assert.equal((await read('customers/globex', { 'if-none-match': field })).statusCode, 200, field);
    }
    assertProblem(await read('customers/globex', { 'if-match': '"x"' }), 412, 'precondition_failed');
    assert.equal((await read('customers/globex', { 'if-match': etag })).statusCode, 200);
    const dated = { 'if-updated-since': new Date().toUTCString(), 'if-modified-since': new Date().toUTCString() };
    assert.equal((await read('customers/globex', dated)).statusCode, 200);
  });

  it('never responds 304 without permission', async () => {
    const headers = { 'if-none-match': '*' };
    assertProblem(await service.call('GET', pathOf('customers/globex'), { headers }), 401, 'missing_credentials');
    const { token } = world.guest;
    assertProblem(await service.call('GET', pathOf('customers/globex'), { headers, token }), 403, 'forbidden');
  });

  it('changes the entity tag exactly if the body changes', async () => {
    const before = await read('customers/globex');
    const { guest, extensionPointId } = world;
    await publishAs(service, guest, extensionPointId, 'median', tinyModule(1)); // the same bytes
    assert.equal((await read('customers/globex')).headers.etag, before.headers.etag);
    await publishAs(service, guest, extensionPointId, 'median', tinyModule(2));
    const after = await read('customers/globex');
    assert.notEqual(after.headers.etag, before.headers.etag);
    assert.notEqual(after.payload, before.payload);
    const [old, now] = [before, after].map((one) => one.json<BindingList>().median?.updatedAt ?? '');
    assert.ok((old ?? '') < (now ?? ''));
  });

  it('responds to HEAD as to GET, without the body', async () => {
    const [get, head] = [await read('customers/globex'), await read('customers/globex', {}, 'HEAD')];
    assert.equal(head.payload, '');
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'vary']) {
      assert.equal(head.headers[name], get.headers[name], name);
    }
  });

  it('repeats its response over a real connection', async () => {
    const fields = ['status', 'etag', 'content-type', 'content-length', 'cache-control', 'vary'] as const;
    for (const headers of [{}, { 'if-none-match': '*' }, { 'if-none-match': '"x"' }]) {
      for (const method of ['GET', 'HEAD']) {
        const responses: unknown[] = [];
        for (let time = 0; time < 3; time++) {
          const response = await fetchList('customers%2Fglobex', headers, method);
          responses.push([
            response.status,
            ...fields.slice(1).map((name) => response.headers.get(name)),
            await response.text(),
          ]);
          assert.ok(response.headers.has('x-request-id'));
        }
        assert.deepEqual(responses[1], responses[0]);
        assert.deepEqual(responses[2], responses[0]);
      }
    }
    const named = await fetchList('customers%2Fglobex', { 'x-request-id': 'mine-1' });
    assert.equal(named.headers.get('x-request-id'), 'mine-1');
    assert.equal((await fetchList('customers%2Fglobex', { 'if-match': '"x"' })).status, 412);
  });

  it('drops the cached response if the token is revoked or expires, or the member is removed', async () => {
    const { owner, appId } = world;
    const asked = (token: string) =>
      fetch(base + pathOf('customers%2Fglobex'), { headers: { authorization: `Bearer ${token}` } });
    const viewer = await service.user();
    const membership = `/api/v1/apps/${appId}/members/${viewer.id}`;
    await makeMember(service, owner, appId, 'viewer', viewer);
    for (let time = 0; time < 3; time++) assert.equal((await asked(viewer.token)).status, 200);
    await service.call('DELETE', membership, { token: owner.token });
    assert.equal((await asked(viewer.token)).status, 404);

    const short = await service.token(owner.id, { lifetimeMs: 60_000 });
    for (let time = 0; time < 3; time++) assert.equal((await asked(short)).status, 200);
    service.advance(60_000);
    assert.equal((await asked(short)).status, 401);
    service.advance(-60_000);
    assert.equal((await asked(short)).status, 200);
    const { objects } = (await service.call('GET', '/api/v1/tokens', { token: short })).json<{
      objects: { id: string }[];
    }>();
    for (const { id } of objects.slice(-1)) await service.call('DELETE', `/api/v1/tokens/${id}`, { token: short });
    assert.equal((await asked(short)).status, 401);
  });

  it('has no other route below /bindings', async () => {
    const bare = `/api/v1/extension-points/${world.extensionPointId}/bindings`;
    assertProblem(await service.call('GET', bare, { token: world.owner.token }), 404, 'not_found');
    assertProblem(await read('customers/globex', {}, 'POST'), 405, 'method_not_allowed');
  });
});

describe('GET /api/v1/extension-points/:extensionPointId/bindings/* (A2), if the store cannot report commits', () => {
  it('responds 503, even with a cached response', async () => {
    const fail = (): never => {
      throw new UnavailableError('Cannot look');
    };
    const partition = { get: fail, getOrLoad: fail, set: fail };
    const service = await openService({
      config: { logLevel: 'info' },
      replace: ({ deps }) => ({
        deps: { ...deps, cache: { ...deps.cache, version: fail, of: () => partition } },
      }),
    });
    try {
      const url = `${await service.listen()}/api/v1/extension-points/ext_1/bindings/key`;
      const response = await fetch(url, { headers: { authorization: 'Bearer x' } });
      assert.equal(response.status, 503);
      assert.equal(((await response.json()) as { code: string }).code, 'unavailable');
    } finally {
      await service.close();
    }
  });
});
