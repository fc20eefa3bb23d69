import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plugin } from '@extism/extism';
import { createManualClock, settle } from '../test/helpers/manual-clock.ts';
import { createClientOn } from './client.ts';
import type { ClientError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { loadReported, type PluginSource } from './reported-plugin.ts';

const id = 'ext_1/plugin/usr_1/median';
const contentAddress = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
  readonly count: string;
  readonly explicitBounds: readonly number[];
  readonly bucketCounts: readonly string[];
  readonly asInt: string;
}

/** A client whose requests are collected, with the answers to them. */
function open(options: Partial<ClientOptions> = {}) {
  const clock = createManualClock();
  const sent: { readonly url: string; readonly init: RequestInit | undefined }[] = [];
  const answers: (() => Response | Promise<Response>)[] = [];
  const errors: ClientError[] = [];
  const client = createClientOn(
    {
      baseUrl: 'https://plugins.example/base',
      token: 'tnn_secret',
      reports: true,
      streaming: false,
      fetch: async (url, init) => {
        sent.push({ url: String(url), init });
        return (await answers.shift()?.()) ?? new Response('{}');
      },
      ...options,
    },
    { clock },
  );
  client.on('error', ({ error }) => errors.push(error));
  const points = (at: number, name: string): readonly Point[] => {
    const { metrics } = JSON.parse(String(sent[at]?.init?.body)).resourceMetrics[0].scopeMetrics[0];
    const metric = metrics.find((one: { name: string }) => one.name === name);
    return (metric?.histogram ?? metric?.gauge)?.dataPoints ?? [];
  };
  const pass = async (ms: number) => {
    clock.pass(ms);
    await settle();
  };
  return { client, clock, sent, answers, errors, points, pass };
}

describe('client.record()', () => {
  it('adds calls up, and sends them once per interval as OTLP metrics', async () => {
    const { client, sent, points, pass, errors } = open();
    client.record({ id, contentAddress, durationMs: 10, memoryBytes: 65_536 });
    client.record({ id, contentAddress, durationMs: 10, memoryBytes: 131_072 });
    client.record({ id, contentAddress, durationMs: 0, hasFailed: true });
    await pass(9_999);
    assert.equal(sent.length, 0);
    await pass(1);
    assert.equal(sent[0]?.url, 'https://plugins.example/base/api/v1/extension-points/ext_1/otlp/v1/metrics');
    assert.equal(sent[0]?.init?.method, 'POST');
    const [succeeded, failed, ...others] = points(0, 'tenon.plugin.call.duration');
    assert.equal(others.length, 0);
    assert.deepEqual([succeeded?.count, succeeded?.bucketCounts], ['2', ['0', '2', '0']]);
    const [lower = 0, upper = 0] = succeeded?.explicitBounds ?? [];
    assert.ok(lower < 0.01 && upper >= 0.01 && upper / lower < 1.2, `${lower} to ${upper}`);
    assert.deepEqual([failed?.count, failed?.bucketCounts], ['1', ['1', '0']]);
    assert.ok(failed?.attributes.some(({ key }) => key === 'error.type'));
    assert.deepEqual(
      succeeded?.attributes.map(({ value }) => value.stringValue),
      [id, contentAddress],
    );
    assert.deepEqual(
      points(0, 'tenon.plugin.memory').map(({ asInt }) => asInt),
      ['131072'],
    );
    await pass(60_000);
    assert.equal(sent.length, 1, 'nothing was recorded since');
    assert.deepEqual(errors, []);
    await client.close();
  });

  it('does nothing without the option, or offline', async () => {
    for (const options of [{ reports: false }, { offline: true }]) {
      const { client, clock, sent } = open(options);
      assert.equal(client.isReporting, false);
      client.record({ id, contentAddress, durationMs: 1 });
      assert.equal(clock.timers, 0);
      await client.close();
      assert.equal(sent.length, 0);
    }
  });

  it('sends what is left when the client closes, and records nothing after that', async () => {
    const { client, sent, clock } = open({ reports: { intervalMs: Number.POSITIVE_INFINITY } });
    client.record({ id, contentAddress, durationMs: 1 });
    await client.close();
    assert.equal(sent.length, 1);
    client.record({ id, contentAddress, durationMs: 1 });
    await client.close();
    assert.deepEqual([sent.length, clock.timers], [1, 0]);
  });

  it('closes although the server does not answer', async () => {
    const { client, answers, pass } = open();
    answers.push(() => new Promise(() => {}));
    client.record({ id, contentAddress, durationMs: 1 });
    const closed = client.close();
    await pass(5_000);
    await closed;
  });

  it('keeps calls that could not be sent for a later report, and waits as long as the server asks', async () => {
    const { client, answers, sent, points, pass, errors } = open();
    answers.push(() => new Response('{}', { status: 503, headers: { 'retry-after': '30' } }));
    client.record({ id, contentAddress, durationMs: 1 });
    await pass(10_000);
    client.record({ id, contentAddress, durationMs: 1 });
    await pass(30_000);
    assert.equal(sent.length, 2);
    assert.equal(points(1, 'tenon.plugin.call.duration')[0]?.count, '2');
    assert.deepEqual(
      errors.map(({ code, cause }) => [code, (cause as ClientError).status]),
      [['report_failed', 503]],
    );
    await client.close();
  });

  it('drops calls that the server refuses, and says what it does not use', async () => {
    const { client, answers, sent, pass, errors } = open();
    const partialSuccess = { rejectedDataPoints: '1', errorMessage: 'no such version' };
    answers.push(
      () => new Response('{}', { status: 403 }),
      () => Response.json({ partialSuccess }),
    );
    for (let round = 0; round < 2; round++) {
      client.record({ id, contentAddress, durationMs: 1 });
      await pass(10_000);
    }
    await pass(60_000);
    assert.equal(sent.length, 2);
    assert.deepEqual(
      errors.map(({ message }) => message),
      ['A report of calls was not accepted', 'The server did not use parts of a report of calls: no such version'],
    );
    await client.close();
  });

  it('reports at most 1,000 versions, in requests of 100', async () => {
    const { client, sent, points, pass } = open();
    for (let number = 0; number < 1200; number++) {
      client.record({ id: `${id}${number}`, contentAddress, durationMs: 1e9 });
    }
    await pass(10_000);
    assert.equal(sent.length, 10);
    assert.equal(points(9, 'tenon.plugin.call.duration').length, 100);
    await client.close();
  });

  it('refuses what is no call', async () => {
    const { client } = open();
    const call = { id, contentAddress, durationMs: 1 };
    for (const wrong of [{ id: 'x' }, { contentAddress: 'x' }, { durationMs: -1 }, { durationMs: Number.NaN }]) {
      assert.throws(() => client.record({ ...call, ...wrong }), { code: 'invalid_argument' });
    }
    assert.throws(() => client.record({ ...call, memoryBytes: -1 }), { code: 'invalid_argument' });
    await client.close();
  });
});

describe('loadReported()', () => {
  const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  const memory = new WebAssembly.Memory({ initial: 2 });
  const plugin = {
    call: async (name: string) => {
      if (name === 'fail') throw new Error('trap');
      return null;
    },
    getInstance: async () => ({ exports: { memory } }),
  } as unknown as Plugin;

  it('records the time, the failures, and the memory of calls', async () => {
    const calls: { hasFailed?: boolean | undefined; memoryBytes?: number | undefined }[] = [];
    const client = {
      isReporting: true,
      loadPlugin: async () => ({ module, id, contentAddress }),
      record: (call: object) => calls.push(call),
    } as unknown as PluginSource;
    const { report } = await loadReported(client, { extensionPointId: 'ext_1', guestKey: 'a' });
    const reported = report(plugin);
    await reported.call('run');
    await assert.rejects(reported.call('fail'), /^Error: trap$/);
    assert.deepEqual(
      calls.map(({ hasFailed, memoryBytes }) => [hasFailed, memoryBytes]),
      [
        [false, 131_072],
        [true, 131_072],
      ],
    );
  });

  it('fails no call because of a report', async () => {
    const client = {
      isReporting: true,
      loadPlugin: async () => ({ module, id, contentAddress }),
      record: () => {
        throw new Error('no');
      },
    } as unknown as PluginSource;
    const { report } = await loadReported(client, { extensionPointId: 'ext_1', guestKey: 'a' });
    const inWorker = { ...plugin, getInstance: () => Promise.reject(new Error('not available')) } as Plugin;
    assert.equal(await report(inWorker).call('run'), null);
  });

  it('returns the plugin itself if the client does not report', async () => {
    const client = { load: async () => module } as unknown as PluginSource;
    const { report } = await loadReported(client, { extensionPointId: 'ext_1', guestKey: 'a' });
    assert.equal(report(plugin), plugin);
  });
});
