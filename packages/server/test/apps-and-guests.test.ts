import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type App,
  type AppId,
  type ExtensionPoint,
  type Guest,
  type Invitation,
  type Me,
  type Member,
  newId,
  type UserId,
} from '@tenon/protocol';
import { setOperator } from '../src/auth/manage-users.ts';
import { loadConfig } from '../src/config/config.ts';
import { auditEvent } from './helpers/records.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import {
  invite,
  type List,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeMember,
  makeWorld,
  ok,
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

describe('applications', () => {
  it("show the user's role and guests", async () => {
    const rolesOf = async (token: string) =>
      (await ok<List<App>>(service, 'GET', `${api}/apps`, { token })).objects.map(({ role, guests }) => [
        role,
        guests.length,
      ]);
    assert.deepEqual(await rolesOf(world.owner.token), [['owner', 0]]);
    assert.deepEqual(await rolesOf(world.viewer.token), [['viewer', 0]]);
    assert.deepEqual(await rolesOf(world.guest.token), [['guest', 1]]);
    assert.deepEqual(await rolesOf(world.stranger.token), []);
  });

  it('are created by users whom the operator allows, and `/me` says who may', async () => {
    const outcomes: Record<string, number[]> = {};
    for (const createApps of ['operators', 'members', 'all'] as const) {
      const own = await openService({ config: { createApps: 'all' } });
      try {
        const { owner, viewer, guest, stranger } = await makeWorld(own);
        const operator = await own.user();
        await setOperator(own.services.deps, 'operator', operator.id, true);
        const { deps } = own.services;
        Object.assign(deps, { settings: { ...deps.settings, createApps } });
        outcomes[createApps] = await Promise.all(
          [operator, owner, viewer, guest, stranger].map(async ({ token }) => {
            const { mayCreateApps } = (await own.call('GET', `${api}/me`, { token })).json<Me>();
            const { statusCode } = await own.call('POST', `${api}/apps`, { token, json: { name: 'Another' } });
            assert.equal(mayCreateApps, statusCode === 201);
            return statusCode;
          }),
        );
      } finally {
        await own.close();
      }
    }
    assert.deepEqual(outcomes, {
      operators: [201, 403, 403, 403, 403],
      members: [201, 201, 201, 403, 403],
      all: [201, 201, 201, 201, 201],
    });
    assert.equal(loadConfig({}, {}).createApps, 'members');
  });

  it('are renamed; an omitted field keeps its value', async () => {
    const { token } = world.owner;
    const path = `${api}/apps/${await makeApp(service, world.owner)}`;
    assert.equal((await ok<App>(service, 'PUT', path, { token, json: { name: 'New' } })).name, 'New');
    assert.equal((await ok<App>(service, 'PUT', path, { token, json: {} })).name, 'New');
    assert.equal((await ok<App>(service, 'GET', path, { token })).name, 'New');
    await ok(service, 'DELETE', path, { token });
    assertProblem(await service.call('GET', path, { token }), 404, 'not_found');
  });

  it('keep at least one owner', async () => {
    const { token, id } = world.owner;
    const appId = await makeApp(service, world.owner);
    const path = `${api}/apps/${appId}/members`;
    assertProblem(await service.call('DELETE', `${path}/${id}`, { token }), 409, 'conflict');
    assertProblem(await service.call('PUT', `${path}/${id}`, { token, json: { role: 'admin' } }), 409, 'conflict');
    await makeMember(service, world.owner, appId, 'owner', world.admin);
    await ok(service, 'DELETE', `${path}/${id}`, { token });
    const { objects } = await ok<List<Member>>(service, 'GET', path, { token: world.admin.token });
    assert.deepEqual(
      objects.map(({ userId, name, role }) => [userId, name, role]),
      [[world.admin.id, 'Adam', 'owner']],
    );
    assertProblem(await service.call('GET', path, { token }), 404, 'not_found');
  });

  it('list the first 20 guests of a member, and whether there are more', async () => {
    const { token, id } = world.owner;
    const appId = await makeApp(service, world.owner);
    const path = `${api}/apps/${appId}/members`;
    const hold = (count: number) =>
      service.services.deps.store.write(async (tx) => {
        for (let made = 0; made < count; made++) {
          const guest = {
            id: newId('guest'),
            appId: appId as AppId,
            guestKey: newId('guest'),
            label: null,
            note: null,
            ring: null,
            createdAtMs: 1,
          };
          await tx.insertGuest(guest);
          await tx.putGuestUser({ guestId: guest.id, userId: id as UserId, acceptedAtMs: 1 });
        }
        await tx.insertAuditEvent(auditEvent());
      });
    const listed = async () => {
      const { objects } = await ok<List<Member>>(service, 'GET', path, { token });
      const changed = await ok<Member>(service, 'PUT', `${path}/${id}`, { token, json: { role: 'owner' } });
      assert.deepEqual(objects, [changed]);
      return [changed.guestIds.length, changed.hasMoreGuests];
    };
    await hold(20);
    assert.deepEqual(await listed(), [20, false]);
    await hold(1);
    assert.deepEqual(await listed(), [20, true]);
  });

  it('reject unknown users', async () => {
    const { token } = world.owner;
    for (const id of ['usr_00000000000000000000000000', 'nobody', world.appId, world.stranger.id]) {
      const path = `${api}/apps/${world.appId}/members/${id}`;
      assertProblem(await service.call('PUT', path, { token, json: { role: 'viewer' } }), 404, 'not_found');
      assertProblem(await service.call('DELETE', path, { token }), 404, 'not_found');
    }
  });

  it('respond 404 for malformed and unknown ids', async () => {
    const { token } = world.owner;
    for (const id of ['x', 'app_', 'app_00000000000000000000000000', world.guestId, '%00', "'", 'x'.repeat(2000)]) {
      for (const path of [
        `/apps/${id}`,
        `/apps/${id}/guests`,
        `/extension-points/${id}`,
        `/extension-points/${id}/plugins`,
      ]) {
        assertProblem(await service.call('GET', api + path, { token }), 404, 'not_found');
      }
    }
  });
});

describe('extension points', () => {
  it('accept schemas as an object and as text, and return exports as a map', async () => {
    const { token } = world.owner;
    const path = `${api}/apps/${world.appId}/extension-points`;
    const create = (schema: unknown) =>
      ok<ExtensionPoint>(service, 'POST', path, { token, json: { name: 'x', schema } });
    const expected = { exports: { a: {}, b: { input: { type: 'string' } } }, 'x-more': [1, 2] };
    for (const schema of [
      { exports: ['a', { name: 'b', input: { type: 'string' } }], 'x-more': [1, 2] },
      { exports: { a: {}, b: { input: { type: 'string' } } }, 'x-more': [1, 2] },
      JSON.stringify({ exports: ['a', { name: 'b', input: { type: 'string' } }], 'x-more': [1, 2] }),
      'exports:\n  - a\n  - name: b\n    input: {type: string}\nx-more: [1, 2]\n',
    ]) {
      assert.deepEqual((await create(schema)).schema, expected);
    }
    assert.deepEqual((await create(undefined)).schema, { exports: {} });
    // Names that mean something to the messages between processes.
    const input = { type: 'object', properties: { part: { type: 'string' }, kind: { type: 'string' } } };
    const named = { exports: { part: { input }, other: {} } };
    assert.deepEqual((await create(named)).schema, named);
    const odd = await service.call('POST', path, {
      token,
      body: '{"name":"x","schema":{"exports":{"__proto__":{},"constructor":{}}}}',
      headers: { 'content-type': 'application/json' },
    });
    assert.ok(odd.payload.includes('"exports":{"__proto__":{},"constructor":{}}'), odd.payload);
  });

  it('reject invalid schemas, with the location', async () => {
    const { token } = world.owner;
    const path = `${api}/extension-points/${world.extensionPointId}`;
    for (const schema of ['- a\n', 'a: [', { exports: 3 }, { exports: ['a', 'a'] }, { exports: [1] }, 7]) {
      const found = assertProblem(await service.call('PUT', path, { token, json: { schema } }), 422, 'invalid_field');
      assert.match(found.errors?.[0]?.pointer ?? '', /^\/schema/);
    }
    const schema = 'exports:\n  a:\n    input: {typ: string}\n    output: {type: strnig}\n';
    const found = assertProblem(await service.call('PUT', path, { token, json: { schema } }), 422, 'invalid_field');
    assert.deepEqual(
      found.errors?.map(({ pointer, detail }) => [pointer, detail.slice(0, 17)]),
      [
        ['/schema/exports/a/input/typ', 'line 3, column 13'],
        ['/schema/exports/a/output/type', 'line 4, column 20'],
      ],
    );
  });

  it('answer warnings about schemas, which block nothing and are not part of the resource', async () => {
    const { token } = world.owner;
    const path = `${api}/extension-points/${world.extensionPointId}`;
    const schema = 'exports:\n  evaluate:\n    inputs: {type: string}\n';
    const detail = 'an export has no "inputs", so it is ignored; did you mean "input"?';
    const warnings = [{ pointer: '/schema/exports/evaluate/inputs', detail, line: 3, column: 5 }];
    const changed = await service.call('PUT', path, { token, json: { schema } });
    assert.equal(changed.statusCode, 200, changed.payload);
    assert.deepEqual(changed.json<{ warnings: unknown }>().warnings, warnings);
    const read = await service.call('GET', path, { token });
    assert.equal(read.headers.etag, changed.headers.etag);
    assert.equal('warnings' in read.json<object>(), false);
    const trial = await ok<{ warnings: unknown }>(service, 'POST', `${path}/schema/trial`, { token, json: { schema } });
    assert.deepEqual(trial.warnings, warnings);
    const json = { name: 'Warned', schema: { exports: { a: { contentType: 'x' } } } };
    const made = await service.call('POST', `${api}/apps/${world.appId}/extension-points`, { token, json });
    const [warning] = made.json<{ warnings: { pointer: string; line: unknown }[] }>().warnings;
    assert.deepEqual([warning?.pointer, warning?.line], ['/schema/exports/a/contentType', null]);
    const renamed = await ok<{ warnings: unknown }>(service, 'PUT', path, { token, json: { name: 'Same' } });
    assert.deepEqual(renamed.warnings, []);
  });

  it('keep a field that a PUT omits', async () => {
    const { token } = world.owner;
    const path = `${api}/extension-points/${await makeExtensionPoint(service, world.owner, world.appId)}`;
    const named = await ok<ExtensionPoint>(service, 'PUT', path, { token, json: { name: 'Other' } });
    assert.deepEqual([named.name, Object.keys(named.schema.exports)], ['Other', ['evaluate']]);
    const schemed = await ok<ExtensionPoint>(service, 'PUT', path, { token, json: { schema: 'exports: [f]' } });
    assert.deepEqual([schemed.name, Object.keys(schemed.schema.exports)], ['Other', ['f']]);
    assert.deepEqual({ ...(await ok<ExtensionPoint>(service, 'GET', path, { token })), warnings: [] }, schemed);
  });
});

describe('guests and invitations', () => {
  it('have one guest for several invitations with the same key', async () => {
    const { owner } = world;
    const { token } = owner;
    const appId = await makeApp(service, owner);
    const [one, two] = [await service.user('One'), await service.user('Two')];
    const first = await makeGuest(service, owner, appId, 'shared', one);
    assert.equal(await makeGuest(service, owner, appId, 'shared', two), first);
    const { objects } = await ok<List<Guest>>(service, 'GET', `${api}/apps/${appId}/guests`, { token });
    assert.deepEqual(
      objects.map(({ id, guestKey, users }) => [id, guestKey, users.map(({ name }) => name)]),
      [[first, 'shared', ['One', 'Two']]],
    );
    assert.deepEqual(await ok(service, 'GET', `${api}/apps/${appId}/guests/${first}`, { token }), objects[0]);
  });

  it('never show a guest key to guests', async () => {
    const { guest, appId, extensionPointId, guestKey, plugin } = world;
    const { token } = guest;
    for (const path of [
      '/me',
      '/apps',
      `/apps/${appId}`,
      `/apps/${appId}/extension-points`,
      `/extension-points/${extensionPointId}`,
      `/extension-points/${extensionPointId}/plugins`,
      `/artifacts/${plugin.id}`,
      '/tokens',
    ]) {
      const response = await service.call('GET', api + path, { token });
      assert.equal(response.statusCode, 200, path);
      for (const secret of [guestKey, 'customers/initech', world.otherGuest.id])
        assert.ok(!response.payload.includes(secret), path);
    }
  });

  it('reject invalid guest keys and delivery methods', async () => {
    const { token } = world.owner;
    const send = (json: object) => service.call('POST', `${api}/apps/${world.appId}/guests`, { token, json });
    for (const guestKey of ['', 'a//b', '../a', 'a\u0000', '\ud800', 'é'.repeat(257)]) {
      const found = assertProblem(await send({ deliveryMethod: 'link', guestKey }), 422, 'invalid_field');
      assert.equal(found.errors?.[0]?.pointer, '/guestKey');
    }
    const other = assertProblem(
      await send({ deliveryMethod: 'email', guestKey: 'k' }),
      422,
      'unsupported_delivery_method',
    );
    assert.match(other.detail, /"link"/);
  });

  it('support every state of an invitation', async () => {
    const { owner } = world;
    const { token } = owner;
    const appId = await makeApp(service, owner);
    const path = `${api}/apps/${appId}/invitations`;
    const codes = [];
    for (const key of ['a', 'b', 'c', 'd']) codes.push(await invite(service, owner, appId, key));
    const user = await service.user();
    const settle = (what: string, code: string | undefined) =>
      service.call('POST', `${api}/invitations/${what}`, { token: user.token, json: { code } });
    assert.equal((await settle('accept', codes[0])).json().status, 'accepted');
    assert.equal((await settle('decline', codes[1])).json().status, 'declined');
    const listed = await ok<List<Invitation>>(service, 'GET', path, { token });
    await ok(service, 'DELETE', `${path}/${listed.objects[2]?.id}`, { token });
    assertProblem(await settle('accept', codes[0]), 410, 'invitation_used');
    assertProblem(await settle('accept', codes[1]), 410, 'invitation_used');
    assertProblem(await settle('accept', codes[2]), 410, 'invitation_revoked');
    assertProblem(await settle('accept', 'unknown'), 404, 'not_found');
    assertProblem(await service.call('DELETE', `${path}/${listed.objects[0]?.id}`, { token }), 409, 'conflict');
    const late = await service.token(user.id, { lifetimeMs: 30 * 86_400_000 });
    const lateOwner = await service.token(owner.id, { lifetimeMs: 30 * 86_400_000 });
    service.advance(service.services.settings.invitationLifetimeMs);
    try {
      const response = await service.call('POST', `${api}/invitations/accept`, {
        token: late,
        json: { code: codes[3] },
      });
      assertProblem(response, 410, 'invitation_expired');
      const { objects } = await ok<List<Invitation>>(service, 'GET', path, { token: lateOwner });
      assert.deepEqual(
        objects.map(({ guestKey, status }) => [guestKey, status]),
        [
          ['a', 'accepted'],
          ['b', 'declined'],
          ['c', 'revoked'],
          ['d', 'expired'],
        ],
      );
    } finally {
      service.advance(-service.services.settings.invitationLifetimeMs);
    }
  });

  it('are accepted once by concurrent requests', async () => {
    const { owner, appId } = world;
    const code = await invite(service, owner, appId, 'contended');
    const users = await Promise.all(Array.from({ length: 8 }, () => service.user()));
    const responses = await Promise.all(
      users.map(({ token }) => service.call('POST', `${api}/invitations/accept`, { token, json: { code } })),
    );
    const statuses = responses.map(({ statusCode }) => statusCode).sort();
    assert.deepEqual(statuses, [200, ...Array(7).fill(410)]);
  });
});
