import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CacheStore } from '@tenon/client';
import {
  addressOfBytes,
  createFakeServer,
  entry,
  type FakeServer,
  key,
  listenTo,
  listResponse,
  noConnection,
  openClient,
  problemResponse,
} from '../test/helpers/fake-server.ts';
import { settle, until } from '../test/helpers/manual-clock.ts';

const bytes = Uint8Array.from([1, 2, 3]);
const address = addressOfBytes(bytes);
const list = { p: entry(address) };

const serve: Parameters<FakeServer['respond']>[0] = ({ path, headers }) => {
  if (path.endsWith(address)) return new Response(bytes);
  return headers.get('if-none-match') === '"1"'
    ? new Response(null, { status: 304, headers: { etag: '"1"' } })
    : listResponse(list, '"1"');
};

/** A store in memory whose entries tests can inspect and damage. */
function mapStore() {
  const entries = new Map<string, Uint8Array<ArrayBuffer>>();
  const store: CacheStore = {
    get: async (at) => entries.get(at)?.slice(),
    set: async (at, value) => void entries.set(at, value.slice()),
    delete: async (at) => void entries.delete(at),
  };
  return { entries, store };
}

/** Makes two calls with a client, and closes it. */
async function use(
  store: CacheStore,
  options: Parameters<typeof openClient>[1] = {},
  server = createFakeServer(serve),
) {
  const { client, clock } = openClient(server, { store, ...options });
  const reported = listenTo(client);
  const answer = await client.getBindings(key).catch((error) => error);
  const content = await client.getContent(address).catch((error) => error);
  await client.close();
  const problems = reported
    .filter(({ type }) => type === 'error')
    .map(({ event }) => (event.error as Error & { code: string }).code);
  return { answer, content, problems, asked: server.requests, clock };
}

describe('createClient() with a store', () => {
  it('restores lists and contents, and revalidates the lists', async () => {
    const { store } = mapStore();
    await use(store);
    const { answer, content, asked } = await use(store);
    assert.equal(answer.source, 'not_modified');
    assert.deepEqual(content, bytes);
    assert.deepEqual(
      asked.map(({ headers }) => headers.get('if-none-match')),
      ['"1"'],
    );
  });

  it('serves stored entries while the server is down, and offline', async () => {
    const { store } = mapStore();
    await use(store);
    for (const [options, code] of [
      [{}, 'network'],
      [{ offline: true }, 'offline'],
    ] as const) {
      const { answer, content } = await use(store, options, createFakeServer(noConnection));
      assert.equal(answer.source, 'store');
      assert.equal(answer.isStale, true);
      assert.equal(answer.error?.code, code);
      assert.deepEqual(Object.keys(answer.bindings), ['p']);
      assert.deepEqual(content, bytes);
    }
  });

  it('serves no entry of another partition', async () => {
    const { store } = mapStore();
    await use(store);
    const down = () => createFakeServer(noConnection);
    for (const options of [
      { token: 'tnn_other' },
      { cachePartition: 'mine' },
      { baseUrl: 'https://other.example/tenon' },
    ]) {
      const { answer, content } = await use(store, options, down());
      assert.equal(answer.code, 'network');
      assert.equal(content.code, 'network');
    }
    await use(store, { cachePartition: 'mine' });
    const renewed = await use(store, { cachePartition: 'mine', token: () => 'tnn_new' }, down());
    assert.equal(renewed.answer.source, 'store');
  });

  it('detects damaged entries, deletes them, and fetches them again', async () => {
    const damages: ((bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>)[] = [
      () => new Uint8Array(),
      (value) => value.slice(0, -1),
      (value) => value.map((byte, at) => (at === value.length - 1 ? byte ^ 1 : byte)),
      (value) => new Uint8Array(value.length),
    ];
    for (const damage of damages) {
      const { store, entries } = mapStore();
      await use(store);
      const right = new Map(entries);
      for (const [at, value] of right) entries.set(at, damage(value));
      const { answer, content, problems } = await use(store);
      assert.equal(answer.source, 'network');
      assert.deepEqual(content, bytes);
      assert.deepEqual(problems, ['damaged_entry', 'damaged_entry']);
      assert.deepEqual([...entries.keys()].sort(), [...right.keys()].sort());
      assert.deepEqual(entries.get([...right.keys()].find((at) => at.includes('/content/')) ?? ''), bytes);
    }
  });

  it('rejects an intact list of another key', async () => {
    const { store, entries } = mapStore();
    await use(store);
    const [from] = [...entries.keys()].filter((at) => at.includes('/list/'));
    const { client } = openClient(createFakeServer(noConnection), { store });
    const { client: writer } = openClient(
      createFakeServer(() => listResponse({})),
      { store },
    );
    await writer.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' });
    await writer.close();
    const [to] = [...entries.keys()].filter((at) => at.includes('/list/') && at !== from);
    entries.set(to ?? '', entries.get(from ?? '') ?? new Uint8Array());
    await assert.rejects(client.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' }), { code: 'network' });
  });

  it('continues without a store that fails, and emits one error until it works again', async () => {
    const { store } = mapStore();
    let isFull = true;
    let writes = 0;
    const failing: CacheStore = {
      ...store,
      set: async (...args) => {
        writes++;
        if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        return store.set(...args);
      },
    };
    const { client, clock } = openClient(createFakeServer(serve), { store: failing, maxAgeMs: 0 });
    const reported = listenTo(client);
    const problemsAfter = async (number: number) => {
      await until(() => writes === number);
      await settle();
      return reported.filter(({ type }) => type === 'error').length;
    };
    await Promise.all([
      client.getBindings(key),
      client.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' }),
      client.getContent(address),
    ]);
    assert.equal(await problemsAfter(3), 1);
    isFull = false;
    clock.pass(60_000); // then the confirmation is written to the store again
    await client.getBindings(key);
    assert.equal(await problemsAfter(4), 1);
    isFull = true;
    await client.getBindings({ extensionPointId: 'ext_1', guestKey: 'third' });
    assert.equal(await problemsAfter(5), 2);
  });

  it('continues without a store that cannot be read', async () => {
    const unreadable: CacheStore = {
      get: () => Promise.reject(new Error('EIO')),
      set: () => Promise.reject(new Error('EIO')),
      delete: () => Promise.reject(new Error('EIO')),
    };
    const { answer, content, problems } = await use(unreadable);
    assert.equal(answer.source, 'network');
    assert.deepEqual(content, bytes);
    assert.deepEqual(problems, ['store_failed', 'store_failed']);
  });

  it('continues without a store that hangs, and closes without it', async () => {
    const hanging: CacheStore = {
      get: () => new Promise(() => {}),
      set: () => new Promise(() => {}),
      delete: async () => {},
    };
    const { client, clock } = openClient(createFakeServer(serve), { store: hanging });
    let source: string | undefined;
    void client.getBindings(key).then((answer) => {
      source = answer.source;
    });
    await until(() => {
      clock.pass(5_000);
      return source !== undefined;
    });
    assert.equal(source, 'network');
    let isClosed = false;
    void client.close().then(() => {
      isClosed = true;
    });
    await until(() => {
      clock.pass(5_000);
      return isClosed;
    });
    assert.equal(clock.timers, 0);
  });

  it('deletes a list after a 404', async () => {
    const { store, entries } = mapStore();
    await use(store);
    await use(
      store,
      {},
      createFakeServer(() => problemResponse(404, 'not_found')),
    );
    assert.deepEqual(
      [...entries.keys()].filter((at) => at.includes('/list/')),
      [],
    );
  });

  it('never treats a stored list as fresh, and does not know its age after a clock was set back', async () => {
    const { store } = mapStore();
    await use(store);
    const { client, clock } = openClient(createFakeServer(noConnection), {
      store,
      staleIfErrorMs: 10_000,
      maxAgeMs: 60_000,
    });
    clock.setWall(Date.UTC(2020, 0, 1));
    await assert.rejects(client.getBindings(key), { code: 'network' });
    const { client: patient } = openClient(createFakeServer(noConnection), { store });
    assert.equal((await patient.getBindings(key)).isStale, true);
  });

  it('knows the age of a stored list', async () => {
    const { store } = mapStore();
    const { clock: before } = await use(store);
    const { client, clock } = openClient(createFakeServer(noConnection), { store });
    clock.setWall(before.wallMs() + 90_000);
    assert.equal((await client.getBindings(key)).ageMs, 90_000);
  });

  it('uses neither token nor guest key in keys', async () => {
    const { store, entries } = mapStore();
    await use(store);
    for (const at of entries.keys()) assert.match(at, /^[0-9a-f]{64}\/(?:content|list)\/[0-9a-f]{64}$/);
    const text = [...entries.values()].map((value) => new TextDecoder().decode(value)).join();
    assert.doesNotMatch(text, /tnn_/);
  });
});
