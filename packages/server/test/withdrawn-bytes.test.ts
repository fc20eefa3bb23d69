import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plugin, PublishedPlugin, Version, Withdrawal } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { type List, makeGuest, ok, tinyModule } from './helpers/world.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

const why = { reason: 'It sends data home.' };
const dayMs = 24 * 60 * 60 * 1000;

/** The publisher's call of what lies below one of the publisher's plugins. */
function asPublisher({ publisher, path }: Workshop, method: string, name: string, below = '', json?: unknown) {
  return service.call(method, path(name) + below, { token: publisher.token, json });
}

function put({ publisher, path }: Workshop, name: string, number: number, query = '') {
  const headers = { 'content-type': 'application/wasm' };
  return service.call('PUT', path(name) + query, { token: publisher.token, body: tinyModule(number), headers });
}

async function withdrawals({ owner, extensionPointId }: Workshop): Promise<Withdrawal[]> {
  const path = `/api/v1/extension-points/${extensionPointId}/withdrawals`;
  return (await ok<List<Withdrawal>>(service, 'GET', path, { token: owner.token })).objects;
}

async function names(workshop: Workshop): Promise<string[]> {
  return Object.keys(await workshop.list());
}

describe('bytes that the team yanked', () => {
  it('stay withdrawn when their publisher deletes the plugin and publishes it again, under any name', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.call('POST', '/versions/1/yank', why);
    const refused = assertProblem(await workshop.tryPublish(1), 409, 'conflict');
    assert.match(refused.detail, /yanked these bytes.*It sends data home\./);
    assert.equal((await asPublisher(workshop, 'DELETE', 'median')).statusCode, 204);
    for (const name of ['median', 'other']) {
      const { detail } = assertProblem(await put(workshop, name, 1), 409, 'conflict');
      assert.match(detail, /published as "median".*It sends data home\./);
    }
    assert.deepEqual(await workshop.list(), {});
    assert.equal((await put(workshop, 'median', 2)).statusCode, 201, 'other bytes are welcome');
  });

  it('can be restored by the team', async () => {
    const workshop = await openWorkshop(service);
    const { contentAddress } = await workshop.publish(1);
    await workshop.call('POST', '/versions/1/yank', why);
    await asPublisher(workshop, 'DELETE', 'median');
    const { publisher, owner, extensionPointId } = workshop;
    const [withdrawal, ...others] = await withdrawals(workshop);
    assert.equal(others.length, 0);
    assert.deepEqual(
      { ...withdrawal, withdrawnAt: '' },
      {
        contentAddress,
        user: { id: publisher.id, name: 'Paul' },
        pluginName: 'median',
        state: 'yanked',
        reason: why.reason,
        withdrawnAt: '',
      },
    );
    const path = `/api/v1/extension-points/${extensionPointId}/withdrawals/${publisher.id}/${contentAddress}`;
    await ok(service, 'DELETE', path, { token: owner.token });
    assertProblem(await service.call('DELETE', path, { token: owner.token }), 404, 'not_found');
    await workshop.publish(1);
    assert.equal(await workshop.bound(), 1);
  });

  it("are yanked in all of their publisher's plugins, and only the team restores them", async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await put(workshop, 'copy', 1);
    await put(workshop, 'own', 1);
    await asPublisher(workshop, 'POST', 'own', '/versions/1/yank', why);
    assert.deepEqual(await names(workshop), ['copy', 'median']);
    await workshop.call('POST', '/versions/1/yank', why);
    assert.deepEqual(await names(workshop), []);
    assertProblem(await asPublisher(workshop, 'POST', 'own', '/versions/1/restore'), 403, 'forbidden');
    assertProblem(await asPublisher(workshop, 'POST', 'copy', '/versions/1/restore'), 403, 'forbidden');
    assertProblem(await asPublisher(workshop, 'POST', 'copy', '/rollback', { version: 1 }), 409, 'conflict');
    const path = workshop.path('copy');
    const restored = await ok<Version>(service, 'POST', `${path}/versions/1/restore`, { token: workshop.owner.token });
    assert.equal(restored.state, 'published');
    assert.deepEqual(await names(workshop), ['copy']);
  });

  it('stay available to other publishers', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.call('POST', '/versions/1/yank', why);
    const other = await service.user();
    await makeGuest(service, workshop.owner, workshop.appId, 'elsewhere', other);
    const path = workshop.path().replace(workshop.publisher.id, other.id);
    const headers = { 'content-type': 'application/wasm' };
    const published = await service.call('PUT', path, { token: other.token, body: tinyModule(1), headers });
    assert.equal(published.statusCode, 201);
  });
});

describe('bytes that the team rejected', () => {
  it("await approval again, even if the extension point doesn't require it and the plugin was deleted", async () => {
    const workshop = await openWorkshop(service);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(1);
    await workshop.call('POST', '/versions/1/reject', why);
    await workshop.settings({ requiresApproval: false });
    assert.equal((await workshop.publish(1)).version.state, 'awaiting_approval');
    await workshop.call('POST', '/versions/2/reject', why);
    await asPublisher(workshop, 'DELETE', 'median');
    const again = (await put(workshop, 'copy', 1)).json<PublishedPlugin>();
    assert.equal(again.version.state, 'awaiting_approval');
    assert.deepEqual(await names(workshop), []);
    await ok(service, 'POST', `${workshop.path('copy')}/versions/1/approve`, { token: workshop.owner.token });
    assert.deepEqual(await names(workshop), ['copy']);
    assert.deepEqual(await withdrawals(workshop), []);
  });
});

describe('bytes of a plugin that the team blocked', () => {
  it("can't be bound under another name, published before or after", async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await put(workshop, 'before', 1);
    await workshop.call('PUT', '/block', why);
    assert.deepEqual(await names(workshop), []);
    const { detail } = assertProblem(await put(workshop, 'after', 1), 403, 'plugin_blocked');
    assert.match(detail, /blocked these bytes.*It sends data home\./);
    const restore = `${workshop.path('before')}/versions/1/restore`;
    assertProblem(await service.call('POST', restore, { token: workshop.owner.token }), 403, 'plugin_blocked');
    await workshop.call('DELETE', '/block');
    await ok(service, 'POST', restore, { token: workshop.owner.token });
    assert.deepEqual(await names(workshop), ['before', 'median']);
  });

  it('stay blocked when the team deletes the plugin', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.call('PUT', '/block', why);
    await workshop.call('DELETE', '');
    assertProblem(await workshop.tryPublish(1), 403, 'plugin_blocked');
    assert.deepEqual(
      (await withdrawals(workshop)).map(({ state, reason }) => [state, reason]),
      [['blocked', why.reason]],
    );
  });
});

describe('a semantic version', () => {
  it('can be used once for a plugin, also when the plugin is deleted and published again', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1, '?semver=1.0.0');
    const { detail } = assertProblem(await workshop.tryPublish(2, '?semver=1.0.0'), 409, 'conflict');
    assert.match(detail, /"semver" must be unique.*version 1 already has 1\.0\.0/);
    assert.equal(
      (await workshop.tryPublish(1, '?semver=1.0.0')).statusCode,
      200,
      'bytes that are current change nothing',
    );
    await asPublisher(workshop, 'DELETE', 'median');
    assertProblem(await workshop.tryPublish(2, '?semver=1.0.0'), 409, 'conflict');
    await workshop.publish(2, '?semver=1.0.1');
    await asPublisher(workshop, 'DELETE', 'median');
    assertProblem(await workshop.tryPublish(3, '?semver=1.0.0'), 409, 'conflict');
    assert.equal((await put(workshop, 'other', 3, '?semver=1.0.0')).statusCode, 201, 'another plugin has its own');
  });
});

describe('the name of a deleted plugin', () => {
  it('is reserved for its publisher for 90 days', async () => {
    const own = await openService();
    try {
      const workshop = await openWorkshop(own);
      const { publisher, owner, appId } = workshop;
      const colleague = await own.user();
      await makeGuest(own, owner, appId, 'first', colleague);
      const headers = { 'content-type': 'application/wasm' };
      const path = workshop.path().replace(publisher.id, colleague.id);
      const takeOver = async () =>
        own.call('PUT', path, { token: await own.token(colleague.id), body: tinyModule(2), headers });
      await workshop.publish(1);
      const remove = async () =>
        assert.equal(
          (await own.call('DELETE', workshop.path(), { token: await own.token(publisher.id) })).statusCode,
          204,
        );
      await remove();
      const { detail } = assertProblem(await takeOver(), 409, 'plugin_name_taken');
      assert.match(detail, /reserved under the guest .* until 20\d\d-/);
      assert.ok(!detail.includes(publisher.id) && !detail.includes('Paul'), detail);
      await workshop.publish(3);
      await remove();
      own.advance(90 * dayMs - 60_000);
      assertProblem(await takeOver(), 409, 'plugin_name_taken');
      own.advance(120_000);
      const taken = await takeOver();
      assert.equal(taken.statusCode, 201, taken.payload);
      assert.equal((taken.json() as Plugin).name, 'median');
    } finally {
      await own.close();
    }
  });

  it("is available once its publisher doesn't hold the guest", async () => {
    const workshop = await openWorkshop(service);
    const { publisher, owner, appId, first } = workshop;
    const colleague = await service.user();
    await makeGuest(service, owner, appId, 'first', colleague);
    await workshop.publish(1);
    await asPublisher(workshop, 'DELETE', 'median');
    await ok(service, 'DELETE', `/api/v1/apps/${appId}/guests/${first}/users/${publisher.id}`, { token: owner.token });
    const path = workshop.path().replace(publisher.id, colleague.id);
    const headers = { 'content-type': 'application/wasm' };
    const taken = await service.call('PUT', path, { token: colleague.token, body: tinyModule(2), headers });
    assert.equal(taken.statusCode, 201, taken.payload);
  });
});
