import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, AppAuditEntry, Guest, InvitationPreview } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { invite, type List, makeApp, makeGuest, makeWorld, ok, type World } from './helpers/world.ts';

const api = '/api/v1';

describe("a guest's label and note", () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const guestPath = (guestId = world.guestId, appId = world.appId) => `${api}/apps/${appId}/guests/${guestId}`;
  const put = (json: object, headers: Record<string, string> = {}, path = guestPath()) =>
    service.call('PUT', path, { token: world.admin.token, json, headers });
  const read = () => ok<Guest>(service, 'GET', guestPath(), world.admin);

  it('are changed one by one, and removed with null', async () => {
    assert.equal((await put({ label: 'Globex', note: 'Pays\nby invoice' })).statusCode, 200);
    assert.equal((await put({ label: 'Globex Inc.' })).json().note, 'Pays\nby invoice');
    assert.equal((await put({ note: null })).json().label, 'Globex Inc.');
    const { label, note } = await read();
    assert.deepEqual([label, note], ['Globex Inc.', null]);
  });

  it('reach the holders of the guest without the note and the guest key, at once', async () => {
    await put({ label: 'Before', note: 'a secret of the team' });
    const readApp = async (path: string): Promise<App> => {
      const text = (await service.call('GET', path, { token: world.guest.token })).body;
      for (const secret of ['a secret of the team', world.guestKey]) assert.ok(!text.includes(secret), text);
      const json: App | List<App> = JSON.parse(text);
      return 'objects' in json ? (json.objects[0] as App) : json;
    };
    for (const label of ['Before', 'After', null]) {
      await put({ label });
      for (const path of [`${api}/apps/${world.appId}`, `${api}/apps`]) {
        const held = (await readApp(path)).guests.find(({ id }) => id === world.guestId);
        assert.deepEqual(held, { id: world.guestId, label });
      }
    }
  });

  it('are part of the entity tag, so that no change overwrites another one', async () => {
    const first = await service.call('GET', guestPath(), { token: world.admin.token });
    const etag = String(first.headers.etag);
    const second = await put({ label: 'Mine' }, { 'if-match': etag });
    assert.equal(second.statusCode, 200);
    assertProblem(await put({ label: 'Theirs' }, { 'if-match': etag }), 412, 'precondition_failed');
    assert.equal((await put({ note: 'Next' }, { 'if-match': String(second.headers.etag) })).statusCode, 200);
    const headers = { 'if-none-match': String((await put({})).headers.etag) };
    const cached = await service.call('GET', guestPath(), { token: world.admin.token, headers });
    assert.equal(cached.statusCode, 304);
    assert.equal((await read()).label, 'Mine');
  });

  it('of concurrent changes with one entity tag, only one is accepted', async () => {
    const etag = String((await put({ label: 'Start' })).headers.etag);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => put({ label: `${at}` }, { 'if-match': etag })),
    );
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 412, 412, 412, 412]);
  });

  it('refuse unsafe and long texts, and guests of other applications', async () => {
    for (const text of ['', ' \n', '\u200b', 'exe.\u202etxt', 'a\u0000b', 'x'.repeat(501), 7]) {
      for (const field of ['label', 'note']) {
        const { errors = [] } = assertProblem(await put({ [field]: text }), 422, 'invalid_field');
        assert.equal(errors[0]?.pointer, `/${field}`, JSON.stringify(text));
      }
    }
    assertProblem(await put({ label: 'x'.repeat(201) }), 422, 'invalid_field');
    const other = await makeApp(service, world.stranger);
    assertProblem(await put({ label: 'x' }, {}, guestPath(world.guestId, other)), 404, 'not_found');
    const foreign = await makeGuest(service, world.stranger, other, 'k', world.stranger);
    assertProblem(await put({ label: 'x' }, {}, guestPath(foreign)), 404, 'not_found');
  });

  it('can be set by an invitation, which replaces only what it has', async () => {
    const send = async (json: object) => {
      const all = { guestKey: 'invited/with texts', ...json };
      const { link } = await ok<{ link: string }>(service, 'POST', `${api}/apps/${world.appId}/guests`, {
        token: world.admin.token,
        json: all,
      });
      const query = `guestKey=${encodeURIComponent(all.guestKey)}`;
      const { objects } = await ok<List<Guest>>(
        service,
        'GET',
        `${api}/apps/${world.appId}/guests?${query}`,
        world.admin,
      );
      return { link, guest: objects[0] as Guest };
    };
    const first = await send({ label: 'Initech', note: 'red stapler' });
    assert.deepEqual([first.guest.label, first.guest.note], ['Initech', 'red stapler']);
    const json = { code: new URL(first.link).searchParams.get('code') };
    const preview = await service.call('POST', `${api}/invitations/preview`, { json });
    assert.equal((preview.json() as InvitationPreview).guestLabel, 'Initech');
    assert.ok(!preview.body.includes('stapler'));
    const second = await send({ note: 'moved' });
    assert.deepEqual([second.guest.label, second.guest.note], ['Initech', 'moved']);
    const third = await send({});
    assert.deepEqual([third.guest.label, third.guest.note], ['Initech', 'moved']);
  });

  it('are recorded by the names of their fields, and only if they change', async () => {
    await put({ label: 'Recorded', note: 'too' });
    await put({ label: 'Recorded' });
    const path = `${api}/apps/${world.appId}/audit?action=guest.update&limit=1`;
    const { objects } = await ok<List<AppAuditEntry>>(service, 'GET', path, world.owner);
    assert.deepEqual(objects[0]?.details, { fields: ['label', 'note'], guestIds: [world.guestId] });
  });

  it('are found by the search of the list of guests', async () => {
    const appId = await makeApp(service, world.owner);
    await invite(service, world.owner, appId, 'other');
    const guestId = await makeGuest(service, world.owner, appId, 'one', world.stranger);
    const { token } = world.owner;
    await ok(service, 'PUT', guestPath(guestId, appId), { token, json: { label: 'Umbrella', note: '100% sure' } });
    for (const [text, count] of [
      ['umBRELLA', 1],
      ['100%', 1],
      ['%', 1],
      ['none', 0],
    ] as const) {
      const path = `${api}/apps/${appId}/guests?q=${encodeURIComponent(text)}`;
      const { objects, total } = await ok<List<Guest> & { total: number }>(service, 'GET', path, world.owner);
      assert.deepEqual([objects.length, total], [count, count], text);
    }
  });
});
