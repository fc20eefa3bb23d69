import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { SimulationComparison, SimulationTrial, SimulationTrialInput, TestResult } from '@tenon/protocol';
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

describe('GET …/versions/<n>/comparison', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  it("compares a version's calls with those of the bound one, for its publisher and the team", async () => {
    const id = await makeExtensionPoint(service, world.owner, world.appId);
    const returning = (text: string) =>
      wat(`(module
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (import "extism:host/env" "output_set" (func $set (param i64 i64)))
        (func (export "evaluate") (result i32) (local $at i64)
          (local.set $at (call $alloc (i64.const 1)))
          (call $store (local.get $at) (i32.const ${text.charCodeAt(0)}))
          (call $set (local.get $at) (i64.const 1))
          i32.const 0))`);
    const plugin = await publishAs(service, world.guest, id, 'compared', returning('a'));
    await publishAs(service, world.guest, id, 'compared', returning('b'));
    const path = `/api/v1/artifacts/${plugin.id}/versions/2/comparison`;
    const read = async (token: string, query = '') => {
      const response = await service.call('GET', `${path}${query}`, { token });
      assert.equal(response.statusCode, 200, response.payload);
      return response.json<SimulationComparison>();
    };
    assert.deepEqual((await read(world.guest.token)).simulations, []);
    await service.call('PUT', `/api/v1/extension-points/${id}/simulations/basics`, {
      token: world.owner.token,
      json: { fixtures: [{ export: 'evaluate', expect: {} }] },
    });
    const { against, simulations } = await read(world.viewer.token, '?against=1');
    assert.equal(against, 1);
    const [call] = simulations[0]?.calls ?? [];
    assert.deepEqual([call?.before?.output?.text, call?.after?.output?.text], ['a', 'b']);
    assert.equal(call?.differs, true);
    assert.ok(call.changes.includes('output'));
    const foreign = await service.call('GET', path, { token: world.stranger.token });
    assertProblem(foreign, 404, 'not_found');
    const missing = await service.call('GET', `${path}?against=9`, { token: world.owner.token });
    assertProblem(missing, 404, 'not_found');
  });
});

describe('GET …/versions/<n>/test-result', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  it('is an in-toto statement with the digests of what was run', async () => {
    const id = await makeExtensionPoint(service, world.owner, world.appId);
    const at = `/api/v1/extension-points/${id}/simulations`;
    const put = (name: string, json: unknown) =>
      service.call('PUT', `${at}/${name}`, { token: world.owner.token, json });
    await put('module', { testModuleBase64: testModule.toString('base64'), mockInput: 'hi' });
    await put('fixed', { fixtures: [{ export: 'evaluate', expect: {} }] });
    const bytes = freshModule();
    const plugin = await publishAs(service, world.guest, id, 'tested', bytes);
    const path = `/api/v1/artifacts/${plugin.id}/versions/1/test-result`;
    const read = (token = world.guest.token) => service.call('GET', path, { token });
    let response = await read();
    for (let tries = 0; response.statusCode === 404 && tries < 100; tries++) {
      await setTimeout(100);
      response = await read();
    }
    assert.equal(response.statusCode, 200, response.payload);
    assert.equal(response.headers['content-type'], 'application/vnd.in-toto+json');
    assert.match(String(response.headers['content-disposition']), /^attachment; filename="tested-1\.intoto\.json"$/);
    const statement = response.json<TestResult>();
    const sha256 = (text: Buffer | string) => hash('sha256', text, 'hex');
    assert.equal(statement._type, 'https://in-toto.io/Statement/v1');
    assert.equal(statement.subject[0]?.digest.sha256, sha256(bytes));
    const { predicate } = statement;
    assert.deepEqual(
      [predicate.result, predicate.passedTests, predicate.failedTests],
      ['PASSED', ['fixed', 'module'], []],
    );
    assert.deepEqual(
      predicate.configuration.map(({ name, digest, annotations }) => [name, digest?.sha256, annotations.revision]),
      [
        ['fixed/fixtures', sha256('[{"export":"evaluate","expect":{}}]'), 2],
        ['module/test-module', sha256(testModule), 1],
        ['module/mock-input', sha256('hi'), 1],
      ],
    );
    await put('fixed', { fixtures: [{ export: 'evaluate', input: 'x', expect: {} }] });
    const [changed] = (await read()).json<TestResult>().predicate.configuration;
    assert.deepEqual([changed?.name, changed?.digest, changed?.annotations.revision], ['fixed', undefined, 2]);
    assertProblem(await read(world.stranger.token), 404, 'not_found');
  });
});
