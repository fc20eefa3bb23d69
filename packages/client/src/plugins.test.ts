import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addressOfBytes,
  createFakeServer,
  entry,
  type FakeRequest,
  key,
  listenTo,
  listResponse,
  noConnection,
  openClient,
  problemResponse,
} from '../test/helpers/fake-server.ts';

/** Modules that differ in the name of their export. */
function moduleCalled(name: string): Uint8Array<ArrayBuffer> {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const text = Buffer.from(name);
  const sections = [
    [1, 4, 1, 0x60, 0, 0],
    [3, 2, 1, 0],
    [7, text.length + 4, 1, text.length, ...text, 0, 0],
    [10, 4, 1, 2, 0, 0x0b],
  ];
  return Uint8Array.from([...header, ...sections.flat()]);
}

const modules = new Map(['a', 'b', 'c'].map((name) => [name, moduleCalled(name)]));
const addressOf = (name: string) => addressOfBytes(modules.get(name) ?? new Uint8Array());
const nameOf = (module: WebAssembly.Module) => WebAssembly.Module.exports(module)[0]?.name;

function serveContent({ path }: FakeRequest): Response {
  const [, bytes] = [...modules].find(([name]) => path.endsWith(addressOf(name))) ?? [];
  return bytes === undefined ? problemResponse(404, 'not_found') : new Response(bytes);
}

/** Responds with these bindings, and with contents. */
function serve(list: Readonly<Record<string, unknown>>, contents = serveContent) {
  return (asked: FakeRequest) => (asked.path.includes('/bindings/') ? listResponse(list) : contents(asked));
}

const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;

describe('load()', () => {
  it('returns the plugin that changed last, or the one of the name', async () => {
    const list = {
      x: entry(addressOf('a'), day(1)),
      y: entry(addressOf('b'), day(3)),
      z: entry(addressOf('c'), day(2)),
    };
    const { client } = openClient(createFakeServer(serve(list)));
    assert.equal(nameOf(await client.load(key)), 'b');
    assert.equal(nameOf(await client.load({ ...key, name: 'z' })), 'c');
    const plugin = await client.loadPlugin(key);
    assert.deepEqual(
      { ...plugin, module: nameOf(plugin.module) },
      {
        name: 'y',
        ...entry(addressOf('b'), day(3)),
        module: 'b',
        ageMs: 0,
        isStale: false,
        error: undefined,
        provenance: undefined,
      },
    );
  });

  it('compiles what `transform` returns, once, and fails if it throws', async () => {
    const transformed: string[] = [];
    const { client } = openClient(
      createFakeServer(serve({ x: entry(addressOf('a'), day(1)), y: entry(addressOf('b')) })),
      {
        transform: async (bytes) => {
          transformed.push(addressOfBytes(bytes));
          if (addressOfBytes(bytes) === addressOf('b')) throw new Error('not this one');
          return moduleCalled('changed');
        },
      },
    );
    assert.equal(nameOf(await client.load({ ...key, name: 'x' })), 'changed');
    assert.equal(nameOf(await client.load({ ...key, name: 'x' })), 'changed');
    await assert.rejects(client.load({ ...key, name: 'y' }), { code: 'invalid_module' });
    assert.deepEqual(transformed, [addressOf('a'), addressOf('b')]);
    assert.deepEqual(await client.getContent(addressOf('a')), modules.get('a'));
    assert.throws(() => openClient(createFakeServer(serve({})), { transform: 'no' as never }), { option: 'transform' });
  });

  it('reports what is loaded with conditional requests for the list', async () => {
    const list = { x: entry(addressOf('a'), day(1)), y: entry(addressOf('b'), day(2)) };
    const server = createFakeServer(serve(list));
    const { client } = openClient(server);
    const reports = async (work: () => Promise<unknown>) => {
      const before = server.requests.length;
      await work();
      const lists = server.requests.slice(before).filter(({ path }) => path.includes('/bindings/'));
      return lists.map(({ headers }) => headers.get('tenon-loaded'));
    };
    const fresh = { maxAgeMs: 0 };
    assert.deepEqual(await reports(() => client.load({ ...key, name: 'x' })), [null]);
    assert.deepEqual(await reports(() => client.getBindings(key, fresh)), [addressOf('a')]);
    assert.deepEqual(await reports(() => client.load({ ...key, name: 'y' }, fresh)), [addressOf('a')]);
    const both = `${addressOf('a')}, ${addressOf('b')}`;
    assert.deepEqual(await reports(() => client.getBindings(key, fresh)), [both]);
    server.respond(serve({ x: entry(addressOf('c'), day(3)) }));
    assert.deepEqual(await reports(() => client.load({ ...key, name: 'x' }, fresh)), [both]);
    assert.deepEqual(await reports(() => client.getBindings(key, fresh)), [`${addressOf('c')}, ${addressOf('b')}`]);
  });

  it('reports at most 16 contents', async () => {
    const bytes = Array.from({ length: 20 }, (_, at) => moduleCalled(`m${at}`));
    const list = Object.fromEntries(bytes.map((one, at) => [`p${at}`, entry(addressOfBytes(one))]));
    const contents = ({ path }: FakeRequest) =>
      new Response(bytes.find((one) => path.endsWith(addressOfBytes(one))) ?? null);
    const server = createFakeServer(serve(list, contents));
    const { client } = openClient(server);
    for (const name of Object.keys(list)) await client.load({ ...key, name });
    await client.getBindings(key, { maxAgeMs: 0 });
    const header = server.requests.at(-1)?.headers.get('tenon-loaded') ?? '';
    assert.deepEqual(header.split(', '), bytes.slice(-16).map(addressOfBytes));
  });

  it('skips entries without content, and accepts invalid times', async () => {
    const list = {
      x: { ...entry(addressOf('a')), updatedAt: 'soon' },
      y: entry(addressOf('b'), day(1)),
      z: { id: 'z', updatedAt: day(9) },
    };
    const { client } = openClient(createFakeServer(serve(list)));
    assert.equal(nameOf(await client.load(key)), 'b');
  });

  it('rejects a call whose signal is already aborted, even if the module is cached', async () => {
    const { client } = openClient(createFakeServer(serve({ x: entry(addressOf('a')) })));
    await client.load(key);
    const signal = AbortSignal.abort();
    await assert.rejects(client.load(key, { signal }), { code: 'aborted' });
  });

  it('rejects with `no_plugin` if none is bound', async () => {
    const { client } = openClient(createFakeServer(serve({})));
    await assert.rejects(client.load(key), { code: 'no_plugin' });
    const { client: other } = openClient(createFakeServer(serve({ x: entry(addressOf('a')) })));
    for (const name of ['y', 'toString', '__proto__', '']) {
      await assert.rejects(other.load({ ...key, name }), { code: 'no_plugin' });
    }
  });

  it('compiles a module once, and caches it', async () => {
    const { client } = openClient(createFakeServer(serve({ x: entry(addressOf('a')), y: entry(addressOf('a')) })));
    const reported = listenTo(client);
    const all = await Promise.all([
      client.load({ ...key, name: 'x' }),
      client.load({ ...key, name: 'y' }),
      client.load({ extensionPointId: 'ext_1', guestKey: 'other', name: 'x' }),
    ]);
    all.push(await client.load({ ...key, name: 'x' }));
    assert.equal(new Set(all).size, 1);
    const compiled = reported.filter(({ event }) => event.source === 'compiled');
    assert.equal(compiled.length, 1);
  });

  it('rejects with `invalid_module` if the engine cannot compile it', async () => {
    const bytes = Uint8Array.from([0, 0x61, 0x73, 0x6d, 9, 0, 0, 0]);
    const { client } = openClient(
      createFakeServer(serve({ x: entry(addressOfBytes(bytes)) }, () => new Response(bytes))),
    );
    const error = await client.load(key).catch((error) => error);
    assert.equal(error.code, 'invalid_module');
    assert.ok(error.cause instanceof WebAssembly.CompileError);
  });

  it('returns the last loaded version, stale, if the new one cannot be fetched', async () => {
    const server = createFakeServer(serve({ x: entry(addressOf('a')) }));
    const { client, clock } = openClient(server);
    await client.load(key);
    for (const broken of [noConnection, () => problemResponse(500, 'internal'), () => new Response('damaged')]) {
      server.respond(serve({ x: entry(addressOf('b'), day(2)) }, broken));
      clock.pass(60_000);
      const plugin = await client.loadPlugin(key);
      assert.equal(nameOf(plugin.module), 'a');
      assert.equal(plugin.contentAddress, addressOf('a'));
      assert.equal(plugin.isStale, true);
      assert.ok(plugin.error);
    }
    server.respond(serve({ x: entry(addressOf('b'), day(2)) }));
    clock.pass(60_000);
    const plugin = await client.loadPlugin(key);
    assert.equal(nameOf(plugin.module), 'b');
    assert.equal(plugin.isStale, false);
  });

  it('returns the version that was last loaded, with or without a name', async () => {
    const server = createFakeServer(serve({ x: entry(addressOf('a')) }));
    const { client, clock } = openClient(server);
    await client.load({ ...key, name: 'x' });
    server.respond(serve({ x: entry(addressOf('b'), day(2)) }));
    clock.pass(60_000);
    await client.load(key);
    server.respond(serve({ x: entry(addressOf('c'), day(3)) }, noConnection));
    clock.pass(60_000);
    assert.equal(nameOf(await client.load({ ...key, name: 'x' })), 'b');
    assert.equal(nameOf(await client.load(key)), 'b');
  });

  it('returns no last loaded version that is unbound or too old', async () => {
    const server = createFakeServer(serve({ x: entry(addressOf('a')) }));
    const { client, clock } = openClient(server, { staleIfErrorMs: 60_000 });
    await client.load(key);
    server.respond(serve({ y: entry(addressOf('b'), day(2)) }, noConnection));
    clock.pass(1_000);
    await assert.rejects(client.load(key), { code: 'network' });
    await assert.rejects(client.load({ ...key, name: 'x' }), { code: 'no_plugin' });
    server.respond(serve({ x: entry(addressOf('b'), day(2)) }, noConnection));
    clock.pass(60_001);
    await assert.rejects(client.load(key), { code: 'network' });
  });

  it('refetches the list if its content is gone', async () => {
    let lists = 0;
    const server = createFakeServer((asked) => {
      if (!asked.path.includes('/bindings/')) return serveContent(asked);
      lists++;
      return listResponse({
        x: lists === 1 ? entry(addressOfBytes(new Uint8Array(9))) : entry(addressOf('b'), day(2)),
      });
    });
    const { client } = openClient(server);
    assert.equal(nameOf(await client.load(key)), 'b');
    assert.equal(lists, 2);
  });

  it('rejects with 404 if the content stays gone', async () => {
    const { client } = openClient(createFakeServer(serve({ x: entry(addressOfBytes(new Uint8Array(9))) })));
    await assert.rejects(client.load(key), { code: 'not_found', status: 404 });
  });
});

describe('warmUp()', () => {
  const list = { x: entry(addressOf('a')), y: entry(addressOf('b'), day(2)) };
  const keys = Array.from({ length: 50 }, (_, at) => ({ extensionPointId: 'ext_1', guestKey: `guest/${at}` }));

  it('loads all plugins of all keys with limited concurrency, and reports progress', async () => {
    let under = 0;
    let most = 0;
    const server = createFakeServer(async (asked) => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setImmediate(resolve));
      under--;
      return serve(list)(asked);
    });
    const { client } = openClient(server);
    const reported: number[] = [];
    const report = await client.warmUp(keys, {
      concurrency: 5,
      onProgress: ({ done, total }) => reported.push(done / total),
    });
    assert.deepEqual(report, { keys: 50, plugins: 100, failures: [] });
    assert.deepEqual(
      reported,
      Array.from({ length: 50 }, (_, at) => (at + 1) / 50),
    );
    assert.equal(most, 5);
    assert.equal(server.requests.length, 52);
    await client.load({ extensionPointId: 'ext_1', guestKey: 'guest/7', name: 'x' });
    assert.equal(server.requests.length, 52);
  });

  it('continues after a failure, and reports it', async () => {
    const server = createFakeServer((asked) =>
      asked.path.endsWith('guest%2F3') ? noConnection() : serve(list)(asked),
    );
    const { client } = openClient(server);
    const onProgress = () => {
      throw new Error('mine');
    };
    const reported = listenTo(client);
    const report = await client.warmUp([...keys, { extensionPointId: 'ext_1', guestKey: 'one', name: 'y' }], {
      compile: false,
      onProgress,
    });
    assert.equal(report.plugins, 99);
    assert.deepEqual(
      report.failures.map(({ key, error }) => [key.guestKey, error.code]),
      [['guest/3', 'network']],
    );
    assert.ok(reported.every(({ event }) => event.source !== 'compiled'));
    assert.equal(reported.filter(({ type }) => type === 'error').length, 51);
  });

  it('reports an unbound name as a failure', async () => {
    const { client } = openClient(createFakeServer(serve(list)));
    const { plugins, failures } = await client.warmUp([{ extensionPointId: 'ext_1', guestKey: 'one', name: 'z' }]);
    assert.deepEqual([plugins, failures.map(({ error }) => error.code)], [0, ['no_plugin']]);
  });

  it('aborts with its signal, and with the client', async () => {
    const { client } = openClient(createFakeServer(() => new Promise(() => {})));
    const controller = new AbortController();
    const calls = [client.warmUp(keys, { signal: controller.signal }), client.warmUp(keys)];
    controller.abort();
    await assert.rejects(calls[0] as Promise<unknown>, { code: 'aborted' });
    await client.close();
    await assert.rejects(calls[1] as Promise<unknown>, { code: 'closed' });
  });
});
