import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type AppId,
  type ExtensionPointId,
  maxSimulations,
  type SchemaRevisions,
  type Simulation,
  type SimulationInput,
} from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { wat } from './helpers/wat.ts';
import {
  type List,
  makeApp,
  makeExtensionPoint,
  makeWorld,
  testModule,
  tinyModule,
  type World,
} from './helpers/world.ts';

describe('/api/v1/extension-points/…/simulations', () => {
  let service: TestService;
  let world: World;
  let base: string;
  before(async () => {
    service = await openService({ config: { maxModuleBytes: 4 * 2 ** 20 } });
    world = await makeWorld(service);
    base = `/api/v1/extension-points/${world.extensionPointId}/simulations`;
  });
  after(() => service.close());

  const test = testModule.toString('base64');
  const mock = (number: number) => tinyModule(number).toString('base64');
  const call = (method: string, path: string, json?: unknown, headers?: Record<string, string>) =>
    service.call(method, `${base}${path}`, { token: world.owner.token, json, ...(headers && { headers }) });
  const put = (name: string, json: unknown, headers?: Record<string, string>) => call('PUT', `/${name}`, json, headers);
  const stored = async (name: string, json: SimulationInput): Promise<Simulation> => {
    const response = await put(name, json);
    assert.ok(response.statusCode === 200 || response.statusCode === 201, response.payload);
    return response.json<Simulation>();
  };
  const revision = async () =>
    (await service.store.read.extensionPoint(world.extensionPointId as ExtensionPointId))?.simulationsRevision ?? -1;

  it('are created, read, replaced, and deleted', async () => {
    const created = await put('basics', { testModuleBase64: test, mockHostBase64: mock(1), mockInput: 'grüße' });
    assert.equal(created.statusCode, 201, created.payload);
    const first = created.json<Simulation>();
    assert.deepEqual([first.name, first.kind, first.revision, first.fixtures], ['basics', 'module', 1, null]);
    assert.equal(first.testModule?.size, testModule.length);
    assert.equal(first.mockInputBase64, Buffer.from('grüße').toString('base64'));
    const fixtures = [{ export: 'evaluate', input: '1', expect: { jsonSubset: { deep: [1, null] } } }];
    const other = await stored('a-fixture', { fixtures });
    assert.deepEqual([other.revision, other.kind, other.fixtures], [2, 'fixtures', fixtures]);
    const { objects } = (await call('GET', '')).json<List<Simulation>>();
    assert.deepEqual(objects, [other, first]);

    const replaced = await put('basics', { testModuleBase64: test, mockInput: { base64: '/w==' } });
    assert.equal(replaced.statusCode, 200);
    const now = replaced.json<Simulation>();
    assert.deepEqual([now.id, now.revision, now.mockHost, now.mockInputBase64], [first.id, 3, null, '/w==']);
    assert.deepEqual((await call('GET', '/basics')).json(), now);
    assert.equal((await call('DELETE', '/basics')).statusCode, 204);
    assertProblem(await call('GET', '/basics'), 404, 'not_found');
    assertProblem(await call('DELETE', '/basics'), 404, 'not_found');
    assert.equal((await stored('basics', { testModuleBase64: test })).revision, 5, 'never the same again');
  });

  it('change nothing when the same content is put again', async () => {
    const input = { testModuleBase64: test, mockHostBase64: mock(2), mockInput: '' };
    const first = await stored('same', input);
    assert.equal(first.mockInputBase64, '');
    const [before, audit] = [await revision(), await auditLength()];
    assert.deepEqual(await stored('same', { ...input, mockInput: { base64: '' } }), first);
    assert.deepEqual([await revision(), await auditLength()], [before, audit]);
    assert.notDeepEqual(await stored('same', { ...input, mockInput: ' ' }), first);
    assert.deepEqual([await revision(), await auditLength()], [before + 1, audit + 1]);
  });

  async function auditLength(): Promise<number> {
    const events = await service.store.read.auditOfApp(world.appId as AppId, {}, { limit: 10_000 });
    return events.length;
  }

  it('send their modules, with the content address as the entity tag', async () => {
    const { testModule: about } = await stored('bytes', { testModuleBase64: test, mockHostBase64: mock(3) });
    const response = await service.call('GET', `${base}/bytes/test-module`, { token: world.guest.token });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.rawPayload, testModule);
    assert.deepEqual(
      ['etag', 'content-type', 'cache-control', 'x-content-type-options', 'content-disposition'].map(
        (name) => response.headers[name],
      ),
      [
        `"${about?.contentAddress}"`,
        'application/wasm',
        'private, no-cache',
        'nosniff',
        'attachment; filename="bytes-test-module.wasm"',
      ],
    );
    const cached = await call('GET', '/bytes/test-module', undefined, {
      'if-none-match': `"${about?.contentAddress}"`,
    });
    assert.equal(cached.statusCode, 304);
    assert.deepEqual((await call('GET', '/bytes/mock-host')).rawPayload, tinyModule(3));
    await stored('no-mock', { testModuleBase64: test });
    assertProblem(await call('GET', '/no-mock/mock-host'), 404, 'not_found');
    const asContent = await service.call('GET', `/api/v1/c/${about?.contentAddress}`, { token: world.owner.token });
    assertProblem(asContent, 404, 'not_found');
  });

  it('are invisible to other tenants', async () => {
    await stored('secret', { testModuleBase64: test });
    const foreign = await makeExtensionPoint(service, world.stranger, await makeApp(service, world.stranger));
    for (const path of ['', '/secret', '/secret/test-module']) {
      assertProblem(await service.call('GET', `${base}${path}`, { token: world.stranger.token }), 404, 'not_found');
      if (path === '') continue;
      const own = `/api/v1/extension-points/${foreign}/simulations${path}`;
      assertProblem(await service.call('GET', own, { token: world.stranger.token }), 404, 'not_found');
    }
  });

  it('accept the types that SDKs emit, and a mock host that reads the mock input', async () => {
    const base64 = (text: string) => wat(text).toString('base64');
    const older = `(module (import "xtp:test/harness" "assert" (func (param i64 i64))) (func (export "test")))`;
    const reading = `(module (import "xtp:test/harness" "mock_input" (func $input (result i64)))
      (func (export "config_get") (param i64) (result i64) (call $input)))`;
    const { mockHost } = await stored('sdk', { testModuleBase64: base64(older), mockHostBase64: base64(reading) });
    assert.ok(mockHost);
    assert.equal((await call('DELETE', '/sdk')).statusCode, 204);
  });

  it('reject what is no simulation, with a pointer to the fault', async () => {
    const module = (text: string) => wat(text).toString('base64');
    const cases: readonly (readonly [string, unknown])[] = [
      ['/testModuleBase64', {}],
      ['/fixtures', { fixtures: [] }],
      ['/other', { testModuleBase64: test, other: 1 }],
      ['/testModuleBase64', { testModuleBase64: 'AGFzbQ' }],
      ['/testModuleBase64', { testModuleBase64: Buffer.from('nothing').toString('base64') }],
      ['/testModuleBase64', { testModuleBase64: mock(4) }],
      [
        '/testModuleBase64',
        { testModuleBase64: module('(module (func (export "test") (param i32) (result i32) i32.const 0))') },
      ],
      [
        '/testModuleBase64',
        {
          testModuleBase64: module(
            '(module (import "extism:host/user" "f" (func)) (func (export "test") (result i32) i32.const 0))',
          ),
        },
      ],
      [
        '/testModuleBase64',
        {
          testModuleBase64: module(
            '(module (import "xtp:test/harness" "group" (func (param i32))) (func (export "test")))',
          ),
        },
      ],
      ['/mockHostBase64', { testModuleBase64: test, mockHostBase64: module('(module)') }],
      [
        '/mockHostBase64',
        {
          testModuleBase64: test,
          mockHostBase64: module('(module (import "a" "f" (func $f)) (export "f" (func $f)))'),
        },
      ],
      ['/mockInput', { testModuleBase64: test, mockInput: 'x'.repeat(256 * 1024 + 1) }],
      ['/mockInput/base64', { testModuleBase64: test, mockInput: { base64: '*' } }],
      ['/testModuleBase64', { fixtures: [{ export: 'evaluate', expect: {} }], testModuleBase64: test }],
      [
        '/fixtures/1/export',
        {
          fixtures: [
            { export: 'evaluate', expect: {} },
            { export: 'unknown', expect: {} },
          ],
        },
      ],
      ['/fixtures/0/expect/equal', { fixtures: [{ export: 'evaluate', expect: { equal: '1' } }] }],
      ['/fixtures/0/expect/equals', { fixtures: [{ export: 'evaluate', expect: { fails: true, equals: '1' } }] }],
      [
        '/fixtures/0/expect/jsonSubset/a~1b/1',
        { fixtures: [{ export: 'evaluate', expect: { jsonSubset: { 'a/b': [1, 2 ** 53] } } }] },
      ],
      ['/fixtures/0/inputBase64', { fixtures: [{ export: 'evaluate', input: '', inputBase64: '', expect: {} }] }],
      ['/fixtures/0/inputBase64', { fixtures: [{ export: 'evaluate', inputBase64: '!', expect: {} }] }],
      ['/fixtures', { fixtures: [{ export: 'evaluate', input: 'x'.repeat(256 * 1024), expect: {} }] }],
    ];
    const before = await revision();
    for (const [pointer, json] of cases) {
      const response = await put('faulty', json);
      assertProblem(response, 422, 'invalid_field');
      const [fault] = response.json<{ errors: { pointer: string }[] }>().errors;
      assert.equal(fault?.pointer, pointer, response.payload);
    }
    assert.equal(await revision(), before);
  });

  it('reject hostile names and bodies', async () => {
    for (const name of ['.hidden', 'a%2Fb', '%00', 'x'.repeat(101), 'a%20b', '%F0%9F%98%80', '..%2f..']) {
      assertProblem(await put(name, { testModuleBase64: test }), 400, 'invalid_request');
    }
    assertProblem(await call('GET', `/${'x'.repeat(5000)}`), 404, 'not_found');
    const send = (body: string) =>
      service.call('PUT', `${base}/hostile`, {
        token: world.owner.token,
        body,
        headers: { 'content-type': 'application/json' },
      });
    const nested = `{"fixtures":[{"export":"evaluate","expect":{"jsonSubset":${'['.repeat(100_000)}${']'.repeat(100_000)}}}]}`;
    assertProblem(await send(nested), 400, 'malformed_json');
    const many = `{"fixtures":[{"export":"evaluate","expect":{"jsonSubset":[${'0,'.repeat(200_000)}0]}}]}`;
    assertProblem(await send(many), 413, 'payload_too_large');
    assertProblem(await send(`{"testModuleBase64":"${'A'.repeat(5 * 2 ** 20)}"}`), 413, 'payload_too_large');
    assertProblem(
      await send(`{"fixtures":[{"export":"${'\\\\'.repeat(1000)}\\"","expect":{}}]}`),
      422,
      'invalid_field',
    );
    assertProblem(await send('{"fixtures":"'), 400, 'malformed_json');
    const quoted = await send('{"fixtures":[{"export":"evaluate","input":"[[[{\\"\\\\","expect":{}}]}');
    assert.equal(quoted.statusCode, 201, quoted.payload);
  });

  it('apply a conditional change only to the entity tag that it names', async () => {
    const absent = await put('conditional', { testModuleBase64: test }, { 'if-match': '"x"' });
    assertProblem(absent, 412, 'precondition_failed');
    const created = await put('conditional', { testModuleBase64: test });
    const { etag } = created.headers;
    const second = await put('conditional', { testModuleBase64: test, mockInput: '1' }, { 'if-match': String(etag) });
    assert.equal(second.statusCode, 200);
    const stale = { 'if-match': String(etag) };
    assertProblem(await put('conditional', { testModuleBase64: test }, stale), 412, 'precondition_failed');
    assertProblem(await call('DELETE', '/conditional', undefined, stale), 412, 'precondition_failed');
    assert.equal(
      (await call('GET', '/conditional', undefined, { 'if-none-match': String(second.headers.etag) })).statusCode,
      304,
    );
  });

  it('are at most 20, also when they are put concurrently', async () => {
    const id = await makeExtensionPoint(service, world.owner, world.appId);
    const answers = await Promise.all(
      Array.from({ length: maxSimulations + 4 }, (_, index) =>
        service.call('PUT', `/api/v1/extension-points/${id}/simulations/s${index}`, {
          token: world.owner.token,
          json: { testModuleBase64: test, mockInput: String(index) },
        }),
      ),
    );
    const codes = answers.map(({ statusCode }) => statusCode).sort();
    assert.deepEqual(codes, [...Array(maxSimulations).fill(201), ...Array(4).fill(422)]);
    const found = await service.store.read.simulations(id as ExtensionPointId);
    assert.deepEqual(
      found.map((one) => one.revision).sort((a, b) => a - b),
      Array.from({ length: maxSimulations }, (_, index) => index + 1),
    );
  });

  it('count to the quota of the application', async () => {
    const appId = world.appId as AppId;
    const before = (await service.store.read.countPlugins(appId)).bytes;
    await stored('counted', { testModuleBase64: test, mockInput: 'four' });
    assert.equal((await service.store.read.countPlugins(appId)).bytes - before, testModule.length + 4);
    await call('DELETE', '/counted');
    assert.equal((await service.store.read.countPlugins(appId)).bytes, before);
  });

  it('appear in the revisions of the extension point, and in the audit trail', async () => {
    await stored('noted', { testModuleBase64: test });
    await call('DELETE', '/noted');
    const { objects } = (
      await service.call('GET', `/api/v1/extension-points/${world.extensionPointId}/schema/revisions`, {
        token: world.viewer.token,
      })
    ).json<SchemaRevisions>();
    const [deleted, set] = objects;
    assert.deepEqual([deleted?.simulation?.name, deleted?.simulation?.change], ['noted', 'delete']);
    assert.deepEqual([set?.simulation?.change, set?.user?.id, set?.before], ['put', world.owner.id, null]);
    const [event] = await service.store.read.auditOfApp(
      world.appId as AppId,
      { action: 'simulation.put' },
      { limit: 1 },
    );
    assert.equal(event?.targetId, world.extensionPointId);
    assert.equal((event?.details as { simulation?: string } | undefined)?.simulation, 'noted');
  });
});
