import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Approval, ExtensionPoint, GuestBinding, Plugin, PublishedPlugin, Version } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { type List, makeGuest, ok, tinyModule } from './helpers/world.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

const why = { reason: 'It sends data home.' };

async function withVersions(count: number): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  for (let number = 1; number <= count; number++) await workshop.publish(number);
  return workshop;
}

/** Where a new version waits for approval, after a first one that did not have to. */
async function withAwaiting(): Promise<Workshop> {
  const workshop = await withVersions(1);
  await workshop.settings({ requiresApproval: true });
  await workshop.publish(2);
  return workshop;
}

describe('an extension point that requires approval', () => {
  it('binds a version after the team approved it, and the previous one until then', async () => {
    const workshop = await withVersions(1);
    await workshop.settings({ requiresApproval: true });
    const published = await workshop.publish(2);
    assert.equal(published.isNewVersion, true);
    assert.equal(published.version.state, 'awaiting_approval');
    assert.equal(published.status.state, 'awaiting_approval');
    assert.match(published.status.detail, /Version 2 awaits approval by the application's team\. Version 1 is active/);
    assert.equal(await workshop.bound(), 1);
    const again = await workshop.publish(2);
    assert.deepEqual([again.isNewVersion, again.version.number], [false, 2], 'it waits already');

    const approved = await workshop.call('POST', '/versions/2/approve');
    const { state, decidedBy, boundGuestIds } = approved.json<Version>();
    assert.deepEqual([state, decidedBy, boundGuestIds.length], ['published', 'host', 2]);
    assert.equal(await workshop.bound(), 2);
  });

  it('tells the publisher why a version was rejected, and accepts its bytes again', async () => {
    const workshop = await withAwaiting();
    const rejected = await workshop.call('POST', '/versions/2/reject', why);
    assert.equal(rejected.json<Version>().state, 'rejected');
    const { status } = await workshop.plugin(workshop.publisher);
    assert.deepEqual([status.state, status.reason], ['rejected', why.reason]);
    assert.match(status.detail, /was rejected by the application's team: “It sends data home\.”/);
    assert.equal(await workshop.bound(), 1);
    for (const [action, json] of [['approve'], ['reject', why], ['restore'], ['yank', why]] as const) {
      assertProblem(await workshop.call('POST', `/versions/2/${action}`, json), 409, 'conflict');
    }
    assertProblem(await workshop.call('POST', '/rollback', { version: 2 }), 409, 'conflict');
    const republished = await workshop.publish(2);
    assert.deepEqual(
      [republished.isNewVersion, republished.version.number, republished.version.state],
      [true, 3, 'awaiting_approval'],
    );
  });

  it("needs the decision of the team, even for an owner's own plugin", async () => {
    const workshop = await withAwaiting();
    for (const by of [workshop.publisher, workshop.viewer]) {
      assertProblem(await workshop.call('POST', '/versions/2/approve', undefined, by), 403, 'forbidden');
      assertProblem(await workshop.call('POST', '/versions/2/reject', why, by), 403, 'forbidden');
    }
    const { owner, appId, extensionPointId } = workshop;
    await makeGuest(service, owner, appId, 'the host', owner);
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${owner.id}/own`;
    const headers = { 'content-type': 'application/wasm' };
    const own = await service.call('PUT', path, { token: owner.token, body: tinyModule(7), headers });
    assert.equal(own.json<PublishedPlugin>().version.state, 'awaiting_approval');
    const approved = await service.call('POST', `${path}/versions/1/approve`, { token: owner.token });
    assert.equal(approved.json<Version>().decidedBy, 'host');
  });

  it('reserves the name from the publish on, even while nothing is bound', async () => {
    const workshop = await openWorkshop(service);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(1);
    assert.deepEqual(await workshop.list(), {});
    const colleague = await service.user();
    await makeGuest(service, workshop.owner, workshop.appId, 'first', colleague);
    const path = workshop.path().replace(workshop.publisher.id, colleague.id);
    const headers = { 'content-type': 'application/wasm' };
    const rival = await service.call('PUT', path, { token: colleague.token, body: tinyModule(2), headers });
    assertProblem(rival, 409, 'plugin_name_taken');
    assert.deepEqual((await workshop.plugin()).guestIds, [], 'bound nowhere');
    const [binding] = await workshop.guestBindings();
    assert.deepEqual([binding?.version, binding?.contentAddress, binding?.updatedAt], [null, null, null]);
  });

  it('ends a rollback when a newer version is approved, and not before', async () => {
    const workshop = await withVersions(3);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(4);
    await workshop.call('POST', '/rollback', { version: 1 });
    assert.equal(await workshop.bound(), 1);
    await workshop.publish(5);
    assert.equal(await workshop.bound(), 1);
    await workshop.call('POST', '/versions/4/approve');
    assert.equal(await workshop.bound(), 4);
    await workshop.call('POST', '/rollback', { version: 3 });
    await workshop.call('POST', '/versions/5/reject', why);
    assert.equal(await workshop.bound(), 3);
  });

  it('ends a rollback only for the guests of the approved version, and not for an older version', async () => {
    const workshop = await withVersions(2);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(3, `?guest=${workshop.second}`);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.call('POST', '/versions/3/approve');
    const boundTo = async (guestId: string) =>
      (await workshop.plugin()).status.bindings.find((one) => one.guestId === guestId)?.version;
    assert.equal(await boundTo(workshop.first), 1);
    assert.equal(await boundTo(workshop.second), 3);

    await workshop.publish(4);
    await workshop.settings({ requiresApproval: false });
    await workshop.publish(5);
    await workshop.publish(6);
    await workshop.call('POST', '/rollback', { version: 5 });
    await workshop.call('POST', '/versions/4/approve');
    assert.equal(await workshop.bound(), 5);
  });

  it('lists pending versions, the oldest first', async () => {
    const workshop = await withAwaiting();
    const { owner, publisher, extensionPointId, appId } = workshop;
    const headers = { 'content-type': 'application/wasm' };
    const put = { token: publisher.token, body: tinyModule(5), headers };
    await ok(service, 'PUT', workshop.path('other'), put);
    const list = async () =>
      (await ok<List<Approval>>(service, 'GET', `/api/v1/apps/${appId}/approvals`, { token: owner.token })).objects;
    const [first, second, ...more] = await list();
    assert.equal(more.length, 0);
    assert.deepEqual([first?.name, first?.version.number], ['median', 2]);
    assert.deepEqual([second?.name, second?.version.number], ['other', 1]);
    assert.deepEqual(first?.user, { id: publisher.id, name: 'Paul' });
    assert.deepEqual(first?.extensionPoint, { id: extensionPointId, name: 'Formulas' });
    assert.equal(`/api/v1/artifacts/${first?.pluginId}`, workshop.path());
    assert.deepEqual(first?.version.guestIds, [workshop.first, workshop.second].sort());
    assert.deepEqual(
      first.guests.map(({ id }) => id),
      first.version.guestIds,
    );
    assert.ok(first.guests.every(({ guestKey }) => guestKey !== ''));
    await workshop.call('POST', '/versions/2/approve');
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      ['other'],
    );
  });

  it('keeps omitted fields, so that older clients change neither approval nor limits', async () => {
    const workshop = await openWorkshop(service);
    const limits = { maxModuleBytes: 1000, maxInitialMemoryPages: null, proposals: null, allowWasi: false };
    await workshop.settings({ requiresApproval: true, limits: { maxModuleBytes: 1000, allowWasi: false } });
    const path = `/api/v1/extension-points/${workshop.extensionPointId}`;
    const read = () => ok<ExtensionPoint>(service, 'GET', path, { token: workshop.publisher.token });
    assert.deepEqual((await read()).limits, limits);
    await workshop.settings({ name: 'Formulas', schema: 'exports: [evaluate]' });
    assert.equal((await read()).requiresApproval, true);
    assert.deepEqual((await read()).limits, limits);
    await workshop.settings({ limits: { maxModuleBytes: null } });
    assert.deepEqual((await read()).limits, { ...limits, maxModuleBytes: null });
    const call = (json: object) => service.call('PUT', path, { token: workshop.owner.token, json });
    for (const json of [
      { requiresApproval: 1 },
      { limits: { maxModuleBytes: '1' } },
      { limits: { allowWasi: null } },
    ]) {
      assertProblem(await call(json), 422, 'invalid_field');
    }
  });
});

describe('a block', () => {
  it('removes the plugin from every list, rejects new versions, and tells the publisher why', async () => {
    const workshop = await withVersions(2);
    const blocked = await workshop.call('PUT', '/block', why);
    assert.equal(blocked.json<Plugin>().status.state, 'blocked');
    assert.deepEqual(await workshop.list('first'), {});
    assert.deepEqual(await workshop.list('second'), {});
    assert.match(assertProblem(await workshop.tryPublish(3), 403, 'plugin_blocked').detail, /It sends data home\./);
    assertProblem(await workshop.tryPublish(2), 403, 'plugin_blocked');
    const { status } = await workshop.plugin(workshop.publisher);
    assert.deepEqual([status.state, status.reason], ['blocked', why.reason]);
    assert.match(
      status.detail,
      /^The application's team has blocked the plugin: “It sends data home\.” Active for no guest\.$/,
    );
    const { contentAddress } = await workshop.plugin();
    const { token } = workshop.owner;
    assert.equal((await service.call('GET', `/api/v1/c/${contentAddress}`, { token })).statusCode, 200);
  });

  it('can be removed, and the current version is bound again', async () => {
    const workshop = await withVersions(3);
    await workshop.call('PUT', '/block', why);
    await workshop.call('POST', '/versions/3/yank', why, workshop.publisher);
    assert.equal((await workshop.call('DELETE', '/block')).statusCode, 204);
    assert.equal(await workshop.bound(), 2);
    assertProblem(await workshop.call('DELETE', '/block'), 404, 'not_found');
    assert.equal((await workshop.tryPublish(4)).statusCode, 200);
  });

  it('can get another reason', async () => {
    const workshop = await withVersions(1);
    await workshop.call('PUT', '/block', why);
    const again = await workshop.call('PUT', '/block', { reason: 'Another' });
    assert.equal(again.json<Plugin>().status.reason, 'Another');
    assertProblem(await workshop.call('PUT', '/block', {}), 422, 'invalid_field');
  });

  it('survives the deletion of the plugin by its publisher', async () => {
    const workshop = await withVersions(1);
    await workshop.call('PUT', '/block', why);
    assertProblem(await workshop.call('DELETE', '', undefined, workshop.publisher), 403, 'plugin_blocked');
    assertProblem(await workshop.call('DELETE', '/block', undefined, workshop.publisher), 403, 'forbidden');
    assert.equal((await workshop.call('DELETE', '')).statusCode, 204);
  });
});

describe('a pin', () => {
  const pinPath = (workshop: Workshop, name = 'median', guest = workshop.first) =>
    `/api/v1/extension-points/${workshop.extensionPointId}/guests/${guest}/pins/${name}`;
  const pin = (workshop: Workshop, version: number, by: TestUser = workshop.owner, path = pinPath(workshop)) =>
    service.call('PUT', path, { token: by.token, json: { version } });
  const unpin = (workshop: Workshop) => service.call('DELETE', pinPath(workshop), { token: workshop.owner.token });

  it("keeps a guest's binding at a version, despite publishes and rollbacks", async () => {
    const workshop = await withVersions(2);
    const pinned = await pin(workshop, 1);
    assert.equal(pinned.statusCode, 200);
    const { version, pinnedVersion, name, user, isBlocked } = pinned.json<GuestBinding>();
    assert.deepEqual([version, pinnedVersion, name, isBlocked], [1, 1, 'median', false]);
    assert.deepEqual(user, { id: workshop.publisher.id, name: 'Paul' });
    await workshop.publish(3);
    await workshop.call('POST', '/rollback', { version: 2 });
    assert.equal(await workshop.bound(), 1);
    const { bindings, detail } = (await workshop.plugin(workshop.publisher)).status;
    const reported = bindings.map(({ guestId, ...rest }) => [guestId, rest] as const);
    assert.deepEqual(new Map(reported).get(workshop.first as never), {
      version: 1,
      isPinned: true,
      pinnedTo: 1,
      rolledBackTo: 2,
    });
    assert.deepEqual(new Map(reported).get(workshop.second as never), {
      version: 2,
      isPinned: false,
      pinnedTo: null,
      rolledBackTo: 2,
    });
    assert.match(detail, /The application's team holds it at version 1 for 1 of 2 guests\./);

    assert.equal((await unpin(workshop)).statusCode, 204);
    assert.equal(await workshop.bound(), 2);
    assertProblem(await unpin(workshop), 404, 'not_found');
  });

  it('never moves: if its version is yanked, nothing is bound until it is restored', async () => {
    const workshop = await withVersions(2);
    await pin(workshop, 1);
    await workshop.call('POST', '/versions/1/yank', why, workshop.publisher);
    assert.equal(await workshop.bound(), null);
    assert.deepEqual(await workshop.list(), {});
    await workshop.call('POST', '/versions/1/restore', undefined, workshop.publisher);
    assert.equal(await workshop.bound(), 1);
    await pin(workshop, 2);
    assert.equal(await workshop.bound(), 2);
  });

  it('requires a published version of a plugin that has its name under a guest of the application', async () => {
    const workshop = await withVersions(2);
    await workshop.call('POST', '/versions/1/yank', why);
    assertProblem(await pin(workshop, 1), 409, 'conflict');
    assertProblem(await pin(workshop, 9), 422, 'invalid_field');
    const elsewhere = await withVersions(1);
    for (const path of [
      pinPath(workshop, 'other'),
      pinPath(workshop, '%20'),
      pinPath(workshop, 'median', elsewhere.first),
      pinPath(workshop, 'median', 'gst_x'),
    ]) {
      assertProblem(await pin(workshop, 2, workshop.owner, path), 404, 'not_found');
      assertProblem(await service.call('DELETE', path, { token: workshop.owner.token }), 404, 'not_found');
    }
  });

  it('survives the deletion of the plugin by its publisher, but not that of the guest', async () => {
    const workshop = await withVersions(2);
    await pin(workshop, 1);
    assertProblem(await workshop.call('DELETE', '', undefined, workshop.publisher), 409, 'conflict');
    const { owner, publisher, appId, first } = workshop;
    const path = `/api/v1/apps/${appId}/guests/${first}/users/${publisher.id}`;
    await ok(service, 'DELETE', path, { token: owner.token });
    await makeGuest(service, owner, appId, 'first', publisher);
    assert.deepEqual(await workshop.list(), {}, 'a further invitation binds nothing by itself');
    await workshop.publish(2);
    const [binding] = await workshop.guestBindings();
    assert.deepEqual([binding?.version, binding?.pinnedVersion], [2, null]);
    await workshop.call('POST', '/versions/2/yank', why);
    assert.equal(await workshop.bound(), null, 'what was published before the guest was taken is no good any more');
  });
});

describe('GET /apps/:appId/guests/:guestId/bindings', () => {
  it("lists a guest's plugins for the team, with the bound version and the reason", async () => {
    const workshop = await withVersions(2);
    const { owner, viewer, publisher, first } = workshop;
    const headers = { 'content-type': 'application/wasm' };
    for (const [number, name] of ['b', '10', 'a'].entries()) {
      const put = { token: publisher.token, body: tinyModule(8 + number), headers };
      await ok(service, 'PUT', `${workshop.path(name)}?guest=${first}`, put);
    }
    await ok(service, 'PUT', `${workshop.path('b')}/block`, { token: owner.token, json: why });
    const bindings = await workshop.guestBindings();
    assert.deepEqual(
      bindings.map(({ name, version, isBlocked, blockReason }) => [name, version, isBlocked, blockReason]),
      [
        ['10', 1, false, null],
        ['a', 1, false, null],
        ['b', null, true, why.reason],
        ['median', 2, false, null],
      ],
    );
    const path = `/api/v1/apps/${workshop.appId}/guests/${first}/bindings`;
    const page = await ok<List<GuestBinding>>(service, 'GET', `${path}?limit=3`, { token: viewer.token });
    const nextCursor = JSON.stringify([workshop.extensionPointId, 'b', 'b']);
    assert.deepEqual(page, { objects: bindings.slice(0, 3), nextCursor, total: 4 });
    const search = await ok<List<GuestBinding>>(service, 'GET', `${path}?q=MED`, { token: viewer.token });
    assert.deepEqual(search.objects, bindings.slice(3));
    const elsewhere = await withVersions(1);
    for (const guest of [elsewhere.first, 'gst_x']) {
      assertProblem(await service.call('GET', path.replace(first, guest), { token: owner.token }), 404, 'not_found');
    }
  });
});
