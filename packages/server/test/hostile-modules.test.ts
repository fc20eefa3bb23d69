import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { localsBomb } from './helpers/slow-module.ts';
import { formOf, makeWorld, sampleModule, tinyModule, type World } from './helpers/world.ts';

describe('modules that the engine validates for minutes', () => {
  let service: TestService;
  let world: World;
  let key: string;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
    key = await service.apiKey(world.owner.id);
  });
  after(() => service.close());

  const publish = (name: string, body: Buffer) =>
    service.call('PUT', `/api/v1/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/${name}`, {
      token: world.guest.token,
      body,
      headers: { 'content-type': 'application/wasm' },
    });
  const instrument = (content: Buffer, config = '{"banned":[]}') =>
    service.call('POST', '/instrument', {
      token: key,
      ...formOf([
        { name: 'wasm', content },
        { name: 'config', content: config },
      ]),
    });

  it('are rejected before the engine validates them, for publishing and instrumentation', async () => {
    const bomb = localsBomb(1_000_000);
    const responses = [await publish('bomb', bomb), await instrument(bomb), await instrument(bomb, '{"allowed":[]}')];
    for (const answer of responses) {
      assertProblem(answer, 422, 'module_too_complex');
      // The scan's words, not those for a process that was killed at its time limit.
      assert.match(answer.json<{ detail: string }>().detail, /at most 50,000,000 values for an engine to check/);
    }
  });

  it('do not delay other requests', async () => {
    assert.equal((await publish('honest', tinyModule(1))).statusCode, 201);
    assert.equal((await instrument(sampleModule)).statusCode, 200);
    assert.deepEqual([service.services.workers.load.running, service.services.workers.load.queued], [0, 0]);
  });
});
