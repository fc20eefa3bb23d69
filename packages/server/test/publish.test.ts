import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BindingList, Plugin, PublishedPlugin } from '@tenon/protocol';
import { StorageFullError } from '../src/db/store.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { formOf, makeGuest, makeWorld, ok, sampleModule, tinyModule, type World } from './helpers/world.ts';

describe('PUT /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService({ config: { maxPluginsPerGuest: 5, maxModuleBytes: 100_000 } });
    world = await makeWorld(service);
  });
  after(() => service.close());

  const pathOf = (user: TestUser, name: string) =>
    `/api/v1/artifacts/${world.extensionPointId}/plugin/${user.id}/${name}`;
  const put = (user: TestUser, name: string, body: Buffer, query = '') =>
    service.call('PUT', pathOf(user, name) + query, {
      token: user.token,
      body,
      headers: { 'content-type': 'application/wasm' },
    });
  const list = (key: string) =>
    ok<BindingList>(service, 'GET', `/api/v1/extension-points/${world.extensionPointId}/bindings/${key}`, {
      token: world.owner.token,
    });

  it('responds with 201 for the first version, then with 200, and numbers the versions', async () => {
    const first = await put(world.otherGuest, 'counted', tinyModule(1));
    assert.equal(first.statusCode, 201);
    const plugin = first.json<Plugin>();
    assert.equal(plugin.id, `${world.extensionPointId}/plugin/${world.otherGuest.id}/counted`);
    assert.equal(plugin.version.number, 1);
    assert.equal(plugin.size, tinyModule(1).length);
    assert.equal(plugin.guestIds.length, 1);
    const second = await put(world.otherGuest, 'counted', tinyModule(2));
    assert.equal(second.statusCode, 200);
    assert.equal(second.json<Plugin>().version.number, 2);
    assert.equal(second.json<Plugin>().createdAt, plugin.createdAt);
    const same = await put(world.otherGuest, 'counted', tinyModule(2));
    assert.equal(same.statusCode, 200);
    assert.deepEqual(same.json<PublishedPlugin>(), { ...second.json<PublishedPlugin>(), isNewVersion: false });
    assert.deepEqual(
      [first, second].map((answer) => answer.json<PublishedPlugin>().isNewVersion),
      [true, true],
    );
  });

  it('never decreases the time of the last change when the clock is set back', async () => {
    const updatedAt = async (byte: number) =>
      (await put(world.otherGuest, 'clocked', tinyModule(byte))).json<Plugin>().updatedAt;
    const first = await updatedAt(31);
    service.advance(-3_600_000);
    const second = await updatedAt(32);
    service.advance(3_600_000);
    assert.equal(second, first);
    assert.ok((await updatedAt(33)) >= second);
  });

  it('accepts a form with the field artifact, with any part headers', async () => {
    for (const extra of [
      '; filename="greet.wasm"\r\ncontent-type: application/wasm',
      '\r\ncontent-type: text/plain',
      '',
    ]) {
      const form = formOf([
        { name: 'note', content: 'passed over' },
        { name: 'artifact', content: tinyModule(77), extra },
      ]);
      const response = await service.call('PUT', pathOf(world.guest, 'greet'), { token: world.guest.token, ...form });
      assert.ok(response.statusCode < 300, response.payload);
      const address = createHash('sha256').update(tinyModule(77)).digest('base64url');
      assert.equal(response.json<Plugin>().contentAddress, address);
    }
  });

  it('binds under every guest that the publisher holds, or only under the given one', async () => {
    const user = await service.user();
    const { owner, appId } = world;
    const [one, two] = [
      await makeGuest(service, owner, appId, 'one', user),
      await makeGuest(service, owner, appId, 'two', user),
    ];
    assert.deepEqual((await put(user, 'both', tinyModule(3))).json<Plugin>().guestIds, [one, two].sort());
    assert.deepEqual(Object.keys(await list('one')), ['both']);
    const named = await put(user, 'single', tinyModule(3), `?guest=${two}`);
    assert.deepEqual(named.json<Plugin>().guestIds, [two]);
    const narrowed = await put(user, 'both', tinyModule(4), `?guest=${two}`);
    assert.deepEqual(narrowed.json<Plugin>().guestIds, [one, two].sort(), 'the other guest keeps its binding');
    assert.deepEqual(Object.keys(await list('one')), ['both']);
    assert.deepEqual(Object.keys(await list('two')), ['both', 'single']);
    for (const guest of [world.guestId, 'gst_nonsense', 'x']) {
      assertProblem(await put(user, 'single', tinyModule(3), `?guest=${guest}`), 403, 'not_a_guest');
    }
    assertProblem(await put(user, 'single', tinyModule(3), `?guest=${one}&guest=${two}`), 400, 'invalid_request');
  });

  it("rejects a name that another user of the guest uses, and leaves that user's plugin unchanged", async () => {
    const { owner, appId, guest, guestKey } = world;
    const second = await service.user();
    await makeGuest(service, owner, appId, guestKey, second);
    await makeGuest(service, owner, appId, 'of-its-own', second);
    const before = await list(guestKey);
    assertProblem(await put(second, 'median', tinyModule(9)), 409, 'plugin_name_taken');
    assert.deepEqual(await list(guestKey), before);
    assert.deepEqual(await list('of-its-own'), {}, 'all or none');
    assert.equal(before.median?.id.includes(guest.id), true);
  });

  it('rejects bytes that are not a valid core module, with the location', async () => {
    const { guest } = world;
    const refusals: [Buffer, string, RegExp][] = [
      [Buffer.from(''), 'not_wasm', /offset 0x0/],
      [Buffer.from('#!/bin/sh\n'), 'not_wasm', /offset 0x0/],
      [Buffer.from('(module)'), 'not_wasm', /offset 0x0/],
      [Buffer.from('0061736d0d000100', 'hex'), 'component_not_supported', /component/i],
      [sampleModule.subarray(0, sampleModule.length - 1), 'invalid_module', /offset 0x[0-9a-f]+/],
      // A function of type () -> i32 whose body is empty: only validation sees that.
      [
        Buffer.from('0061736d01000000010501600001' + '7f03020100' + '0a040102000b', 'hex'),
        'invalid_module',
        /offset 0x[0-9a-f]+/,
      ],
    ];
    for (const [bytes, code, message] of refusals) {
      const found = assertProblem(await put(guest, 'bad', bytes), 422, code);
      assert.match(found.detail, message);
    }
    assert.equal((await list(world.guestKey)).bad, undefined);
  });

  it('rejects other kinds of bodies', async () => {
    const { guest } = world;
    const send = (body: Buffer, headers: Record<string, string>) =>
      service.call('PUT', pathOf(guest, 'median'), { token: guest.token, body, headers });
    const missing = formOf([{ name: 'file', content: sampleModule }]);
    const found = assertProblem(await send(missing.body, missing.headers), 422, 'invalid_field');
    assert.deepEqual(
      found.errors?.map(({ pointer }) => pointer),
      ['/artifact'],
    );
    const twice = formOf([
      { name: 'artifact', content: sampleModule },
      { name: 'artifact', content: sampleModule },
    ]);
    assertProblem(await send(twice.body, twice.headers), 400, 'malformed_multipart');
    const whole = formOf([{ name: 'artifact', content: sampleModule }]);
    assertProblem(await send(whole.body.subarray(0, -4), whole.headers), 400, 'malformed_multipart');
    assertProblem(await send(whole.body, { 'content-type': 'multipart/form-data' }), 400, 'malformed_multipart');
    assertProblem(await send(sampleModule, { 'content-type': 'application/json' }), 415, 'unsupported_media_type');
    assertProblem(await send(sampleModule, { 'content-type': 'nonsense' }), 415, 'unsupported_media_type');
    assertProblem(await send(sampleModule, {}), 415, 'unsupported_media_type');
    const limit = assertProblem(await put(guest, 'median', Buffer.alloc(100_001)), 413, 'payload_too_large');
    assert.match(limit.detail, /100,000/);
    const large = formOf([{ name: 'artifact', content: Buffer.alloc(100_001) }]);
    assert.match(assertProblem(await send(large.body, large.headers), 413, 'payload_too_large').detail, /100,000/);
  });

  it('rejects invalid names, and names the limit of plugins', async () => {
    const user = await service.user();
    await makeGuest(service, world.owner, world.appId, 'limited', user);
    for (const name of ['.hidden', '-x', 'a%20b', 'a%2Fb', 'x'.repeat(101), '%C3%A4']) {
      assertProblem(await put(user, name, tinyModule(1)), 400, 'invalid_request');
    }
    for (let count = 0; count < 5; count++) assert.equal((await put(user, `p${count}`, tinyModule(1))).statusCode, 201);
    assert.match(assertProblem(await put(user, 'p5', tinyModule(1)), 422, 'limit_exceeded').detail, /5 plugins/);
    assert.equal((await put(user, 'p4', tinyModule(2))).statusCode, 200);
  });

  it('authorizes the publisher before it reads the body', async () => {
    const nonsense = { body: Buffer.from('x'), headers: { 'content-type': 'text/plain' } };
    const path = pathOf(world.guest, 'median');
    assertProblem(await service.call('PUT', path, nonsense), 401, 'missing_credentials');
    assertProblem(await service.call('PUT', path, { ...nonsense, token: world.stranger.token }), 404, 'not_found');
    assertProblem(await service.call('PUT', path, { ...nonsense, token: world.owner.token }), 403, 'not_a_guest');
    assertProblem(await service.call('PUT', path, { ...nonsense, token: world.otherGuest.token }), 403, 'forbidden');
    assertProblem(
      await service.call('PUT', path, { ...nonsense, token: world.guest.token }),
      415,
      'unsupported_media_type',
    );
  });

  it('shows guests only their own plugins, and members all plugins', async () => {
    const path = `/api/v1/extension-points/${world.extensionPointId}/plugins`;
    const namesFor = async ({ token }: TestUser) => {
      const { objects } = await ok<{ objects: Plugin[] }>(service, 'GET', path, { token });
      return objects;
    };
    const own = await namesFor(world.otherGuest);
    assert.deepEqual([...new Set(own.map(({ userId }) => userId))], [world.otherGuest.id]);
    const all = await namesFor(world.viewer);
    assert.ok(new Set(all.map(({ userId }) => userId)).size > 1);
  });

  it('binds nothing under a new guest until the next publish', async () => {
    const user = await service.user();
    await makeGuest(service, world.owner, world.appId, 'early', user);
    await put(user, 'p', tinyModule(1));
    await makeGuest(service, world.owner, world.appId, 'late', user);
    assert.deepEqual(await list('late'), {});
    await put(user, 'p', tinyModule(1));
    assert.deepEqual(Object.keys(await list('late')), ['p']);
  });
});

describe('PUT /api/v1/artifacts/… with a blob store that is full', () => {
  it('responds with 507 and binds nothing', async () => {
    const service = await openService({
      replace: ({ deps }) => ({
        deps: {
          ...deps,
          blobs: {
            ...deps.blobs,
            put: (address, bytes) =>
              isFull ? Promise.reject(new StorageFullError('ENOSPC')) : deps.blobs.put(address, bytes),
          },
        },
      }),
    });
    let isFull = false;
    try {
      const { guest, extensionPointId, owner, guestKey } = await makeWorld(service);
      isFull = true;
      const response = await service.call('PUT', `/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/late`, {
        token: guest.token,
        body: tinyModule(5),
        headers: { 'content-type': 'application/wasm' },
      });
      const { detail } = assertProblem(response, 507, 'storage_full');
      assert.doesNotMatch(detail, /ENOSPC/);
      const path = `/api/v1/extension-points/${extensionPointId}/bindings/${guestKey}`;
      assert.deepEqual(Object.keys(await ok<BindingList>(service, 'GET', path, { token: owner.token })), ['median']);
    } finally {
      await service.close();
    }
  });
});
