import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SchemaRevisions } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, type World } from './helpers/world.ts';

describe('GET /api/v1/extension-points/…/schema/revisions', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const path = () => `/api/v1/extension-points/${world.extensionPointId}`;
  const change = async (json: object) => {
    const response = await service.call('PUT', path(), { token: world.owner.token, json });
    assert.equal(response.statusCode, 200, response.payload);
  };
  const read = async () => {
    const response = await service.call('GET', `${path()}/schema/revisions`, { token: world.viewer.token });
    assert.equal(response.statusCode, 200, response.payload);
    return response.json<SchemaRevisions>().objects;
  };

  it('lists the last ten changes of the schema, the newest first, and no other changes', async () => {
    assert.deepEqual(await read(), []);
    await change({ schema: 'exports: [first]' });
    await change({ name: 'Renamed' });
    await change({ schema: 'exports: [second]' });
    const [second, first, ...others] = await read();
    assert.deepEqual(others, []);
    assert.deepEqual(second?.before, first?.after);
    assert.deepEqual(second?.after, { exports: { second: {} } });
    assert.equal(second.user?.id, world.owner.id);
    for (let count = 0; count < 12; count++) await change({ schema: `exports: [change${count}]` });
    const last = await read();
    assert.equal(last.length, 10);
    assert.deepEqual(last[0]?.after, { exports: { change11: {} } });
  });

  it('has no text of a schema that is too large for the audit trail', async () => {
    await change({ schema: { exports: { large: { description: 'x'.repeat(10_000) } } } });
    assert.equal((await read())[0]?.after, null);
  });

  it('is for members', async () => {
    const call = (token: string) => service.call('GET', `${path()}/schema/revisions`, { token });
    assertProblem(await call(world.guest.token), 403, 'forbidden');
    assertProblem(await call(world.stranger.token), 404, 'not_found');
  });
});
