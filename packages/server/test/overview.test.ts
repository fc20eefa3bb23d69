import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AppOverview, maxCounted } from '@tenon/protocol';
import { addGuests } from './helpers/many.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { invite, makeApp, makeExtensionPoint, makeGuest, ok, publishAs, tinyModule } from './helpers/world.ts';

const api = '/api/v1';

describe('the overview of an application', () => {
  let service: TestService;
  let owner: TestUser;
  before(async () => {
    service = await openService();
    owner = await service.user('Olivia Owner');
  });
  after(() => service.close());

  const read = (appId: string) =>
    ok<AppOverview>(service, 'GET', `${api}/apps/${appId}/overview`, { token: owner.token });

  it('counts nothing in a new application', async () => {
    const { example, firstExtensionPoints, ...counts } = await read(await makeApp(service, owner));
    assert.deepEqual(counts, {
      extensionPoints: 0,
      plugins: 0,
      blockedPlugins: 0,
      guests: 0,
      pendingInvitations: 0,
      awaitingApproval: 0,
      members: 1,
    });
    assert.deepEqual(firstExtensionPoints, []);
    assert.deepEqual(example, { extensionPoint: null, guestKey: null, pluginName: null });
  });

  it('counts what the application has, and has an active plugin as its example', async () => {
    const appId = await makeApp(service, owner, { viewer: await service.user() });
    const empty = await makeExtensionPoint(service, owner, appId);
    const first = await read(appId);
    assert.deepEqual([first.example.extensionPoint?.id, first.example.guestKey], [empty, null]);
    await invite(service, owner, appId, 'pending');
    const point = await makeExtensionPoint(service, owner, appId);
    const ada = await service.user('Ada');
    await makeGuest(service, owner, appId, 'customers/globex', ada);
    await publishAs(service, ada, point, 'median', tinyModule(1));
    await publishAs(service, ada, point, 'blocked', tinyModule(2));
    const { token } = owner;
    const plugins = `${api}/artifacts/${point}/plugin/${ada.id}`;
    await ok(service, 'PUT', `${plugins}/blocked/block`, { token, json: { reason: 'why' } });
    await ok(service, 'PUT', `${api}/extension-points/${point}`, { token, json: { requiresApproval: true } });
    await publishAs(service, ada, point, 'median', tinyModule(3));
    const { example, firstExtensionPoints, ...counts } = await read(appId);
    assert.deepEqual(firstExtensionPoints.map(({ id }) => id).toSorted(), [empty, point].toSorted());
    assert.deepEqual(counts, {
      extensionPoints: 2,
      plugins: 2,
      blockedPlugins: 1,
      guests: 2,
      pendingInvitations: 1,
      awaitingApproval: 1,
      members: 2,
    });
    const { extensionPoint, ...rest } = example;
    assert.equal(extensionPoint?.id, point);
    assert.deepEqual(rest, { guestKey: 'customers/globex', pluginName: 'median' });
    await ok(service, 'DELETE', `${api}/extension-points/${point}`, { token });
    assert.equal((await read(appId)).example.pluginName, null);
  });

  it('counts up to a maximum', async () => {
    const appId = await makeApp(service, owner);
    await addGuests(service, appId, maxCounted + 2);
    assert.equal((await read(appId)).guests, maxCounted + 1);
  });

  it('is not for guests, who must not know the guest keys', async () => {
    const appId = await makeApp(service, owner);
    const ada = await service.user('Ada');
    await makeGuest(service, owner, appId, 'secret', ada);
    const refused = await service.call('GET', `${api}/apps/${appId}/overview`, { token: ada.token });
    assertProblem(refused, 403, 'forbidden');
    assert.ok(!refused.payload.includes('secret'));
  });
});
