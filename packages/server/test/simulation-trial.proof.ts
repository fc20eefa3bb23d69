import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SimulationTrial, SimulationTrialInput } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { wat } from './helpers/wat.ts';
import { freshModule, makeExtensionPoint, makeWorld, publishAs, testModule, type World } from './helpers/world.ts';

describe('POST /api/v1/extension-points/…/simulations/trial', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const attempt = (id: string, json: SimulationTrialInput, cursor = '') =>
    service.call('POST', `/api/v1/extension-points/${id}/simulations/trial${cursor}`, {
      token: world.owner.token,
      json,
    });
  const run = async (id: string, json: SimulationTrialInput, cursor = ''): Promise<SimulationTrial> => {
    const response = await attempt(id, json, cursor);
    assert.equal(response.statusCode, 200, response.payload);
    return response.json<SimulationTrial>();
  };
  /** An extension point with so many plugins of one guest. */
  const stage = async (plugins: number): Promise<string> => {
    const id = await makeExtensionPoint(service, world.owner, world.appId);
    for (let at = 0; at < plugins; at++) await publishAs(service, world.guest, id, `p${at}`, freshModule());
    return id;
  };
  const expecting = (equals: string): SimulationTrialInput => ({
    simulation: { fixtures: [{ export: 'evaluate', expect: { equals } }] },
  });

  it('runs a draft with each bound version, and stores nothing', async () => {
    const id = await stage(2);
    const before = await service.store.read.extensionPoint(id as never);
    const passed = await run(id, expecting(''));
    assert.deepEqual(
      passed.objects.map(({ name, version, verdict }) => [name, version, verdict]),
      [
        ['p0', 1, 'passed'],
        ['p1', 1, 'passed'],
      ],
    );
    assert.equal(passed.isCut, false);
    const failed = await run(id, { ...expecting('x'), name: 'mine' });
    const [first] = failed.objects;
    assert.deepEqual(
      [first?.verdict, first?.simulations[0]?.name, first?.simulations[0]?.revision],
      ['failed', 'mine', null],
    );
    assert.deepEqual(await service.store.read.simulations(id as never), []);
    assert.deepEqual(await service.store.read.extensionPoint(id as never), before);
  });

  it('runs stored simulations, all or one, and says when there is none', async () => {
    const id = await stage(1);
    assert.equal((await run(id, {})).objects[0]?.verdict, 'none_configured');
    const put = (name: string, json: unknown) =>
      service.call('PUT', `/api/v1/extension-points/${id}/simulations/${name}`, { token: world.owner.token, json });
    assert.equal((await put('good', { testModuleBase64: testModule.toString('base64') })).statusCode, 201);
    assert.equal((await put('bad', expecting('x').simulation)).statusCode, 201);
    const all = await run(id, {});
    assert.deepEqual(
      all.objects[0]?.simulations.map(({ name, verdict, revision }) => [name, verdict, revision]),
      [
        ['bad', 'failed', 2],
        ['good', 'passed', 1],
      ],
    );
    assert.equal((await run(id, { name: 'good' })).objects[0]?.verdict, 'passed');
    assertProblem(await attempt(id, { name: 'unknown' }), 404, 'not_found');
    assertProblem(await attempt(id, { schema: 'exports: [' }), 422, 'invalid_field');
    const elsewhere = { schema: 'exports: [other]', ...expecting('') };
    assertProblem(await attempt(id, elsewhere), 422, 'invalid_field');
  });

  it('tries many versions in several requests', async () => {
    const id = await stage(30);
    const names: string[] = [];
    let cursor: string | undefined;
    let requests = 0;
    do {
      const page = await run(id, expecting(''), cursor === undefined ? '' : `?cursor=${cursor}`);
      names.push(...page.objects.map(({ name }) => name));
      assert.equal(page.isCut, page.nextCursor !== undefined);
      cursor = page.nextCursor;
      requests++;
    } while (cursor !== undefined);
    assert.ok(requests >= 2);
    assert.deepEqual(names.sort(), Array.from({ length: 30 }, (_, at) => `p${at}`).sort());
  });

  it('stops a draft that never ends, and the server stays available', async () => {
    const id = await stage(1);
    const endless = wat('(module (func (export "test") (result i32) (loop $l (br $l)) i32.const 0))');
    const slow = run(id, { simulation: { testModuleBase64: endless.toString('base64') } });
    const startedAt = performance.now();
    const response = await service.call('GET', `/api/v1/extension-points/${id}`, { token: world.owner.token });
    assert.equal(response.statusCode, 200);
    assert.ok(performance.now() - startedAt < 5000);
    assert.equal((await slow).objects[0]?.verdict, 'timed_out');
  });
});
