import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { instrument, listFunctions } from '@tenon/instrument';
import { type InstrumentationReport, instrumentationReport } from '@tenon/protocol';
import { Compile } from 'typebox/compile';
import wabt from 'wabt';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { formOf, sampleModule, tinyModule } from './helpers/world.ts';

interface FormPart {
  readonly name: string;
  readonly content: Buffer | string;
  readonly extra?: string;
}

const wasm = { name: 'wasm', content: sampleModule };
const asFile = '; filename="config.json"\r\ncontent-type: application/json';

describe('POST /instrument (B1)', () => {
  let service: TestService;
  let key: string;
  let accessToken: string;
  before(async () => {
    service = await openService({ config: { maxModuleBytes: 100_000, maxConfigBytes: 1000 } });
    const user = await service.user();
    accessToken = user.token;
    key = await service.apiKey(user.id);
  });
  after(() => service.close());

  const send = (parts: readonly FormPart[]) => service.call('POST', '/instrument', { token: key, ...formOf(parts) });

  it('returns the instrumented module', async () => {
    const response = await send([wasm]);
    assert.equal(response.statusCode, 200, response.payload);
    assert.equal(response.headers['content-type'], 'application/wasm');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.match(String(response.headers['tenon-version']), /^\d+\.\d+\.\d+/);
    const expected = instrument(sampleModule);
    assert.ok(response.rawPayload.equals(expected.bytes));
    assert.equal(response.headers['instrumented-functions'], String(expected.report.tracedFunctions));
    assert.ok(expected.report.tracedFunctions > 0);
    assert.equal(response.headers['instrument-total-functions'], String(expected.report.totalFunctions));
    assert.equal(response.headers['instrument-added-imports'], expected.report.addedImports.join(', '));
    assert.deepEqual(
      JSON.parse(String(response.headers['instrument-notes'])),
      expected.report.notes.map(({ message }) => message),
    );
  });

  it("returns the instrumenter's version with errors too", async () => {
    const version = (await send([wasm])).headers['tenon-version'];
    const refusals = [
      await service.call('POST', '/instrument', {}),
      await service.call('POST', '/instrument', { token: accessToken }),
      await send([]),
      await send([{ ...wasm, content: 'no module' }]),
    ];
    assert.deepEqual(
      refusals.map((refusal) => refusal.statusCode),
      [401, 401, 422, 422],
    );
    for (const refusal of refusals) assert.equal(refusal.headers['tenon-version'], version);
  });

  it('accepts the configuration as a file and as a value, in either order', async () => {
    const config = '{"allowed":["greet"]}';
    const expected = instrument(sampleModule, { allowed: ['greet'] }).bytes;
    const forms: FormPart[][] = [
      [wasm, { name: 'config', content: config }],
      [{ name: 'config', content: config }, wasm],
      [
        { name: 'config', content: config, extra: asFile },
        { ...wasm, extra: '; filename="a.wasm"' },
      ],
      [
        { ...wasm, extra: '\r\ncontent-type: text/plain' },
        { name: 'config', content: config, extra: asFile },
      ],
    ];
    for (const form of forms) {
      const response = await send(form);
      assert.ok(response.rawPayload.equals(expected));
      assert.equal(response.headers['instrumented-functions'], '1');
    }
  });

  it('skips banned functions', async () => {
    const response = await send([wasm, { name: 'config', content: '{"banned":["greet"]}' }]);
    assert.ok(response.rawPayload.equals(instrument(sampleModule, { banned: ['greet'] }).bytes));
  });

  it('reports names that match nothing', async () => {
    const response = await send([wasm, { name: 'config', content: '{"allowed":["grüße","greet"]}' }]);
    const header = String(response.headers['instrument-notes']);
    assert.match(header, /^[\x20-\x7e]+$/);
    assert.match((JSON.parse(header) as string[]).join(), /grüße/);
  });

  it('rejects invalid configurations, with the reason', async () => {
    const wrong: [string, RegExp][] = [
      ['', /JSON/],
      ['nonsense', /JSON/],
      ['[]', /array/],
      ['null', /null/],
      ['{}', /neither/],
      ['{"allowed":[],"banned":[]}', /both/],
      ['{"allowed":"greet"}', /allowed.*array of strings/],
      ['{"banned":[1]}', /banned.*number/],
      ['{"allowed":[],"extra":1}', /extra/],
    ];
    for (const [content, message] of wrong) {
      const found = assertProblem(await send([wasm, { name: 'config', content }]), 422, 'invalid_config');
      assert.match(found.detail, message, content);
    }
    const invalid = { name: 'config', content: Buffer.from([0x7b, 0xff, 0x7d]) };
    assertProblem(await send([wasm, invalid]), 422, 'invalid_config');
  });

  it("accepts Tenon's options in a separate field", async () => {
    const config = { name: 'config', content: '{"allowed":["gre*"]}' };
    const plain = await send([wasm, config, { name: 'options', content: '{}' }]);
    assert.equal(plain.headers['instrumented-functions'], '0');
    assert.equal(plain.headers['instrument-added-imports'], '');
    assert.match(String(plain.headers['instrument-notes']), /patterns/);
    const options = { name: 'options', content: '{"patterns":true}', extra: asFile };
    for (const form of [
      [wasm, config, options],
      [options, config, wasm],
    ]) {
      const response = await send(form);
      assert.equal(response.headers['instrumented-functions'], '1', response.payload);
      assert.ok(response.rawPayload.equals(instrument(sampleModule, { allowed: ['greet'] }).bytes));
    }
  });

  it('lets the caller choose legacy or exnref exception handling', async () => {
    const { parseWat } = await wabt();
    const parsed = parseWat('throws.wat', '(module (tag $e) (func (export "f") (throw $e)))', { exceptions: true });
    const content = Buffer.from(parsed.toBinary({}).buffer);
    parsed.destroy();
    for (const exceptionHandling of ['legacy', 'exnref'] as const) {
      const options = { name: 'options', content: JSON.stringify({ exceptionHandling }) };
      const response = await send([{ name: 'wasm', content }, options]);
      assert.ok(response.rawPayload.equals(instrument(content, { exceptionHandling }).bytes), response.payload);
      assert.match(String(response.headers['instrument-notes']), new RegExp(`${exceptionHandling} was chosen`));
    }
  });

  it('traces allocators with known names, or with those of a list', async () => {
    const { parseWat } = await wabt();
    const text = '(module (memory 1) (func (export "malloc") (param i32) (result i32) (i32.const 8)))';
    const parsed = parseWat('allocates.wat', text, {});
    const content = Buffer.from(parsed.toBinary({}).buffer);
    parsed.destroy();
    for (const memory of [true, ['malloc']]) {
      const response = await send([
        { name: 'wasm', content },
        { name: 'options', content: JSON.stringify({ memory }) },
      ]);
      assert.ok(response.rawPayload.equals(instrument(content, { memory }).bytes), response.payload);
      assert.match(String(response.headers['instrument-added-imports']), /allocator-enter/);
    }
  });

  it('returns a report instead of the module on request, with every note and function', async () => {
    const allowed = [...Array.from({ length: 200 }, (_, at) => `no_function_is_called_like_this_${at}`), 'greet'];
    const config = { name: 'config', content: JSON.stringify({ allowed }) };
    const form = formOf([wasm, config]);
    const large = await openService({});
    try {
      const { id } = await large.user();
      const token = await large.apiKey(id);
      const response = await large.call('POST', '/instrument?answer=report', { token, ...form });
      assert.equal(response.statusCode, 200, response.payload);
      assert.equal(response.headers['content-type'], 'application/json');
      assert.equal(response.headers['cache-control'], 'no-store');
      const answer = response.json<InstrumentationReport>();
      const { report } = instrument(sampleModule, { allowed });
      const { functions } = listFunctions(sampleModule, { allowed });
      assert.deepEqual(answer, { ...report, functions });
      assert.equal(answer.notes.length, 200);
      assert.ok(Compile(instrumentationReport).Check(answer));
    } finally {
      await large.close();
    }
  });

  it('rejects reports for the same modules, and unknown response types', async () => {
    const ask = (answer: string, parts: readonly FormPart[]) =>
      service.call('POST', `/instrument?answer=${answer}`, { token: key, ...formOf(parts) });
    assertProblem(await ask('report', [{ name: 'wasm', content: 'text' }]), 422, 'not_wasm');
    const invalid = await ask('report', [wasm, { name: 'options', content: '{"x":1}' }]);
    assertProblem(invalid, 422, 'invalid_config');
    assertProblem(await ask('else', [wasm]), 400, 'invalid_request');
    assert.equal((await ask('module', [wasm])).headers['content-type'], 'application/wasm');
  });

  it('rejects unknown options by name', async () => {
    const wrong: [string, RegExp][] = [
      ['', /options.*JSON/],
      ['nonsense', /options.*JSON/],
      ['[]', /options.*array/],
      ['{"pattern":true}', /"pattern"/],
      ['{"allowed":["greet"]}', /"allowed"/],
      ['{"patterns":"yes"}', /"patterns".*string/],
      ['{"exceptionHandling":"both"}', /"exceptionHandling".*"both"/],
      ['{"memory":["grow"]}', /"memory".*"grow"/],
      ['{"fuel":-1}', /"fuel".*-1/],
    ];
    for (const [content, message] of wrong) {
      const found = assertProblem(await send([wasm, { name: 'options', content }]), 422, 'invalid_config');
      assert.match(found.detail, message, content);
    }
    const invalid = { name: 'options', content: Buffer.from([0x7b, 0xff, 0x7d]) };
    assert.match(assertProblem(await send([wasm, invalid]), 422, 'invalid_config').detail, /"options"/);
  });

  it('exposes its response header fields to other origins', async () => {
    const form = formOf([wasm]);
    const headers = { ...form.headers, origin: 'https://example.org' };
    const response = await service.call('POST', '/instrument', { token: key, ...form, headers });
    const exposed = String(response.headers['access-control-expose-headers']).split(', ');
    const said = Object.keys(response.headers).filter((name) => name.startsWith('instrument'));
    assert.equal(said.length, 4);
    for (const name of said) assert.ok(exposed.includes(name), name);
  });

  it('rejects modules that it cannot instrument, with an error code', async () => {
    const instrumented = Buffer.from(instrument(sampleModule).bytes);
    const refusals: [Buffer, string][] = [
      [Buffer.alloc(0), 'not_wasm'],
      [Buffer.from('(module)'), 'not_wasm'],
      [Buffer.from('0061736d0d000100', 'hex'), 'component_not_supported'],
      [sampleModule.subarray(0, 500), 'invalid_module'],
      [instrumented, 'already_instrumented'],
    ];
    for (const [content, code] of refusals) {
      const found = assertProblem(await send([{ name: 'wasm', content }]), 422, code);
      assert.ok(found.detail.length > 10);
    }
  });

  it('rejects forms without a module, with two, and beyond the limits', async () => {
    const missing = assertProblem(await send([{ name: 'module', content: sampleModule }]), 422, 'invalid_field');
    assert.deepEqual(
      missing.errors?.map(({ pointer }) => pointer),
      ['/wasm'],
    );
    assertProblem(await send([wasm, wasm]), 400, 'malformed_multipart');
    const huge = await send([{ name: 'wasm', content: Buffer.alloc(100_001) }]);
    assert.match(assertProblem(huge, 413, 'payload_too_large').detail, /module.*100,000/);
    const config = await send([wasm, { name: 'config', content: 'x'.repeat(1001) }]);
    assert.match(assertProblem(config, 413, 'payload_too_large').detail, /configuration.*1,000/);
    const parts = await send(Array.from({ length: 9 }, (_, at) => ({ name: `f${at}`, content: 'x' })));
    assert.match(assertProblem(parts, 413, 'payload_too_large').detail, /8 parts/);
    const json = await service.call('POST', '/instrument', { token: key, json: {} });
    assertProblem(json, 415, 'unsupported_media_type');
  });

  it('accepts only API keys, which no other route accepts', async () => {
    assertProblem(await service.call('POST', '/instrument', formOf([wasm])), 401, 'missing_credentials');
    assertProblem(
      await service.call('POST', '/instrument', { token: accessToken, ...formOf([wasm]) }),
      401,
      'invalid_token',
    );
    assertProblem(await service.call('GET', '/api/v1/me', { token: key }), 401, 'invalid_token');
  });

  it('stores and logs nothing of the upload', async () => {
    const before = await readdir(service.dataDir, { recursive: true });
    const secretName = 'a_name_that_must_not_be_logged';
    const config = { name: 'config', content: JSON.stringify({ allowed: [secretName] }) };
    await send([{ name: 'wasm', content: tinyModule(4711) }, config]);
    await send([
      { name: 'wasm', content: tinyModule(4711) },
      { name: 'config', content: `{"${secretName}":[]}` },
    ]);
    assert.deepEqual(await readdir(service.dataDir, { recursive: true }), before);
    assert.equal(service.logged.filter((line) => line.includes(secretName)).length, 0);
  });
});

describe('POST /instrument, when workers run out', () => {
  it('responds 503 with retry-after while the queue is full, and module_too_complex after the timeout', async () => {
    const service = await openService({
      config: { moduleWorkers: 1, moduleQueue: 1, moduleTimeoutMs: 1, moduleTimeoutPerMiBMs: 1 },
    });
    try {
      const { id } = await service.user();
      const token = await service.apiKey(id);
      const form = formOf([wasm]);
      const responses = await Promise.all(
        Array.from({ length: 5 }, () => service.call('POST', '/instrument', { token, ...form })),
      );
      const busy = responses.filter(({ statusCode }) => statusCode === 503);
      assert.equal(busy.length, 3);
      for (const answer of busy) {
        assertProblem(answer, 503, 'unavailable');
        assert.match(String(answer.headers['retry-after']), /^\d+$/);
      }
      for (const answer of responses.filter(({ statusCode }) => statusCode !== 503)) {
        assertProblem(answer, 422, 'module_too_complex');
      }
    } finally {
      await service.close();
    }
  });
});

describe('a server with only area B', () => {
  it('serves /instrument, health and its OpenAPI document, and nothing of area A', async () => {
    const service = await openService({ config: { only: 'instrument' } });
    try {
      const { id, token } = await service.user();
      const response = await service.call('POST', '/instrument', {
        token: await service.apiKey(id),
        ...formOf([wasm]),
      });
      assert.equal(response.statusCode, 200);
      assertProblem(await service.call('GET', '/api/v1/me', { token }), 404, 'not_found');
      assertProblem(await service.call('GET', '/accept-invite?code=x'), 404, 'not_found');
      assert.equal((await service.call('GET', '/readyz')).statusCode, 200);
      const { paths } = (await service.call('GET', '/openapi.json')).json<{ paths: object }>();
      assert.deepEqual(Object.keys(paths).sort(), [
        '/docs',
        '/docs/search.json',
        '/docs/{page}',
        '/healthz',
        '/instrument',
        '/openapi.json',
        '/readyz',
        '/reference/errors',
      ]);
    } finally {
      await service.close();
    }
  });
});
