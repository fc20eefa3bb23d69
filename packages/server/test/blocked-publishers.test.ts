import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BlockedPublisher } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { freshModule, type List, makeExtensionPoint, makeGuest, ok, publishAs } from './helpers/world.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

const why = { reason: 'The account was taken over.' };

const pathOf = ({ appId, publisher }: Workshop) => `/api/v1/apps/${appId}/publishers/${publisher.id}/block`;

function block(workshop: Workshop, json: object = why, query = '') {
  return service.call('PUT', pathOf(workshop) + query, { token: workshop.owner.token, json });
}

describe('a blocked publisher', () => {
  it('has no plugin bound at any extension point, until the team unblocks the publisher', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const other = await makeExtensionPoint(service, workshop.owner, workshop.appId);
    await publishAs(service, workshop.publisher, other, 'variance', freshModule());
    const listOfOther = () =>
      ok<object>(service, 'GET', `/api/v1/extension-points/${other}/bindings/first`, { token: workshop.owner.token });
    const blocked = (await block(workshop)).json<BlockedPublisher>();
    assert.deepEqual([blocked.user.id, blocked.reason], [workshop.publisher.id, why.reason]);
    assert.deepEqual([await workshop.list(), await listOfOther()], [{}, {}]);
    const list = `/api/v1/apps/${workshop.appId}/blocked-publishers`;
    const { objects } = await ok<List<BlockedPublisher>>(service, 'GET', list, { token: workshop.viewer.token });
    assert.deepEqual(objects, [blocked]);

    const unblocked = await service.call('DELETE', pathOf(workshop), { token: workshop.owner.token });
    assert.equal(unblocked.statusCode, 204);
    assert.deepEqual(
      [Object.keys(await workshop.list()), Object.keys(await listOfOther())],
      [['median'], ['variance']],
    );
    assertProblem(await service.call('DELETE', pathOf(workshop), { token: workshop.owner.token }), 404, 'not_found');
  });

  it('reads the reason, and can neither publish, nor delete, nor describe', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await block(workshop);
    const { status } = await workshop.plugin(workshop.publisher);
    assert.deepEqual([status.state, status.reason, status.isPublisherBlocked], ['blocked', why.reason, true]);
    assert.match(status.detail, /has blocked all plugins of the publisher: “The account was taken over\.”/);
    const refused = await workshop.tryPublish(2);
    assertProblem(refused, 403, 'publisher_blocked');
    assert.match(refused.payload, /The account was taken over/);
    const { token } = workshop.publisher;
    const headers = { 'content-type': 'application/wasm' };
    const another = await service.call('PUT', workshop.path('another'), { token, body: freshModule(), headers });
    assertProblem(another, 403, 'publisher_blocked');
    const tried = await service.call('PUT', `${workshop.path('another')}?dryRun=true`, {
      token,
      body: freshModule(),
      headers,
    });
    assertProblem(tried, 403, 'publisher_blocked');
    assertProblem(await workshop.call('DELETE', '', undefined, workshop.publisher), 403, 'publisher_blocked');
    const about = await workshop.call('PUT', '/about', { description: 'Hi.' }, workshop.publisher);
    assertProblem(about, 403, 'publisher_blocked');
  });

  it('stays blocked beside single blocks, after losing the guest, and in other reasons', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.call('PUT', '/block', { reason: 'Only this.' });
    await block(workshop);
    await block(workshop, { reason: 'Another reason.' });
    assert.equal((await workshop.plugin()).status.reason, 'Another reason.');
    await service.call('DELETE', pathOf(workshop), { token: workshop.owner.token });
    assert.equal((await workshop.plugin()).status.reason, 'Only this.');
    assert.deepEqual(await workshop.list(), {});
    await workshop.call('DELETE', '/block');
    assert.deepEqual(Object.keys(await workshop.list()), ['median']);

    await block(workshop);
    const guest = `/api/v1/apps/${workshop.appId}/guests/${workshop.first}/users/${workshop.publisher.id}`;
    await service.call('DELETE', guest, { token: workshop.owner.token });
    await makeGuest(service, workshop.owner, workshop.appId, 'third', workshop.publisher);
    assertProblem(await workshop.tryPublish(3), 403, 'publisher_blocked');
  });

  it('has a dry run, and is a guest or publisher of the application', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const tried = await block(workshop, why, '?dryRun=true');
    assert.deepEqual([tried.json().changed, tried.json().unchanged], [2, 0]);
    assert.deepEqual(Object.keys(await workshop.list()), ['median']);
    const { appId, owner } = workshop;
    const stranger = await service.user('Stan');
    for (const id of [stranger.id, 'usr_x', '%00', workshop.viewer.id]) {
      const path = `/api/v1/apps/${appId}/publishers/${id}/block`;
      assertProblem(await service.call('PUT', path, { token: owner.token, json: why }), 404, 'not_found');
    }
  });
});

describe('a name that is similar to that of another publisher', () => {
  it('is a warning for the team, and unknown to the guest', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const mallory = await service.user('Mallory');
    await makeGuest(service, workshop.owner, workshop.appId, 'other', mallory);
    await workshop.settings({ requiresApproval: true });
    const published = await publishAs(service, mallory, workshop.extensionPointId, 'rnedian', freshModule());
    assert.equal('similarPlugins' in published, false);
    const path = `/api/v1/artifacts/${published.id}`;
    const asGuest = await service.call('GET', path, { token: mallory.token });
    const trail = await service.call('GET', '/api/v1/me/audit', { token: mallory.token });
    assert.equal(trail.statusCode, 200);
    for (const { payload } of [asGuest, trail]) {
      assert.ok(
        !payload.includes('median"') && !payload.includes('similar') && !payload.includes(workshop.publisher.id),
      );
    }
    const similar = [
      {
        pluginId: `${workshop.extensionPointId}/plugin/${workshop.publisher.id}/median`,
        name: 'median',
        user: { id: workshop.publisher.id, name: 'Paul' },
      },
    ];
    const asTeam = await service.call('GET', path, { token: workshop.viewer.token });
    assert.deepEqual(asTeam.json().similarPlugins, similar);
    const approvals = `/api/v1/apps/${workshop.appId}/approvals`;
    const [waiting] = (await service.call('GET', approvals, { token: workshop.owner.token })).json().objects;
    assert.deepEqual(waiting.similarPlugins, similar);
    const audit = `/api/v1/apps/${workshop.appId}/audit?action=plugin.find_similar`;
    const { objects } = (await service.call('GET', audit, { token: workshop.owner.token })).json();
    assert.deepEqual(objects[0].details.similar, [similar[0]?.pluginId]);

    await workshop.call('DELETE', '');
    assert.deepEqual((await service.call('GET', path, { token: workshop.viewer.token })).json().similarPlugins, []);
  });

  it('warns a publisher who is on the team in the response', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await makeGuest(service, workshop.owner, workshop.appId, 'own', workshop.owner);
    const published = await publishAs(service, workshop.owner, workshop.extensionPointId, 'Me-dian', freshModule());
    assert.deepEqual(
      published.similarPlugins?.map(({ name }) => name),
      ['median'],
    );
  });
});
