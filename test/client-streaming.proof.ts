import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Client, type ClientOptions, createClient } from '@tenon/client';
import { loadConfig, type RunningServer, readQuickstart, serve } from '@tenon/server';
import { numberedModule } from '../packages/client/test/helpers/numbered-module.ts';
import { openFaultProxy } from './helpers/fault-proxy.ts';
import { createRandom } from './helpers/random.ts';
import { until } from './helpers/until.ts';

const random = createRandom(1);

/** A data folder with the demo's application. Tests start and stop servers on it. */
async function openPlace(test: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-news-'));
  const dataDir = join(folder, 'data');
  const servers = new Set<RunningServer>();
  const clients: Client[] = [];
  let port = 0;
  const start = async (at = port): Promise<RunningServer> => {
    const flags = { dataDir, port: String(at), logLevel: 'silent', moduleWorkers: '1' };
    const server = await serve(loadConfig(flags, {}));
    servers.add(server);
    return server;
  };
  const stop = async (server: RunningServer): Promise<void> => {
    servers.delete(server);
    await server.close();
  };
  const first = await start();
  port = first.port;
  const quickstart = await readQuickstart(dataDir);
  const named = (name: string): string => quickstart.get(`TENON_${name}`) ?? assert.fail(name);
  const [token, point, userId, appId] = [
    named('TOKEN'),
    named('EXTENSION_POINT_ID'),
    named('USER_ID'),
    named('APP_ID'),
  ];
  const headers = { authorization: `Bearer ${token}` };

  test.after(async () => {
    for (const client of clients) await client.close();
    for (const server of servers) await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function call<T>(method: string, path: string, body?: object | Uint8Array, url = first.url): Promise<T> {
    const isModule = body instanceof Uint8Array;
    const type = body === undefined ? {} : { 'content-type': isModule ? 'application/wasm' : 'application/json' };
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { ...headers, ...type },
      ...(body === undefined ? {} : { body: isModule ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
  await call('PUT', `extension-points/${point}`, { schema: { exports: [] } });
  const guestIds = new Map<string, string>();
  let number = 0;
  return {
    url: first.url,
    first,
    dataDir,
    folder,
    token,
    point,
    appId,
    userId,
    start,
    stop,
    call,
    guestIds,
    async invite(guestKey: string): Promise<void> {
      const { link } = await call<{ link: string }>('POST', `apps/${appId}/guests`, {
        deliveryMethod: 'link',
        guestKey,
      });
      const code = new URL(link).searchParams.get('code');
      const { guestId } = await call<{ guestId: string }>('POST', 'invitations/accept', { code });
      guestIds.set(guestKey, guestId);
    },
    publish: (guestKey: string, name: string, url = first.url): Promise<unknown> => {
      const { bytes } = numberedModule(++number, random);
      return call('PUT', `artifacts/${point}/plugin/${userId}/${name}?guest=${guestIds.get(guestKey)}`, bytes, url);
    },
    /** A client with its counts of requests, streams and changes. */
    host(baseUrl = first.url, options: Partial<ClientOptions> = {}) {
      const client = createClient({ baseUrl, token, maxAgeMs: 0.001, ...options });
      clients.push(client);
      const seen = { requests: 0, streams: 0, changes: [] as string[] };
      client.on('change', ({ guestKey }) => seen.changes.push(guestKey));
      client.on('response', ({ operation, status }) => {
        if (operation === 'bindings') seen.requests++;
        if (operation === 'changes' && status === 200) seen.streams++;
      });
      return { client, seen };
    },
  };
}

/** Waits until the client serves a list from memory instead of requesting it. */
async function untilCurrent(client: Client, point: string, guestKey: string): Promise<void> {
  await until(async () => (await client.getBindings({ extensionPointId: point, guestKey })).source === 'memory');
}

async function boundNames(client: Client, extensionPointId: string, guestKey: string): Promise<string[]> {
  return Object.keys((await client.getBindings({ extensionPointId, guestKey })).bindings);
}

describe('a host with change streams of a real server', () => {
  it('receives changes without a call, and refetches only the changed list', async (test) => {
    const place = await openPlace(test);
    for (const guestKey of ['one', 'customers/two', '三']) await place.invite(guestKey);
    const { client, seen } = place.host();
    for (const guestKey of place.guestIds.keys()) {
      await place.publish(guestKey, 'p');
      await untilCurrent(client, place.point, guestKey);
    }
    await until(() => seen.changes.length === 0, { message: 'no news on its way' });
    const before = seen.requests;
    await place.publish('customers/two', 'q');
    await until(() => seen.changes.length === 1, { message: 'changed' });
    assert.deepEqual(seen.changes, ['customers/two']);
    assert.equal(seen.requests, before + 1);
    assert.deepEqual(await boundNames(client, place.point, 'customers/two'), ['p', 'q']);
    for (let time = 0; time < 100; time++)
      for (const key of place.guestIds.keys())
        await client.getBindings({ extensionPointId: place.point, guestKey: key });
    assert.equal(seen.requests, before + 1);
    assert.equal(seen.streams, 1);
  });

  it('receives changes of another process on the same data', async (test) => {
    const place = await openPlace(test);
    await place.invite('one');
    await place.publish('one', 'p');
    const other = await place.start(0);
    const { client, seen } = place.host();
    await untilCurrent(client, place.point, 'one');
    await place.publish('one', 'q', other.url);
    await until(() => seen.changes.length === 1, { message: 'changed' });
    assert.deepEqual(await boundNames(client, place.point, 'one'), ['p', 'q']);
  });

  it('reconnects without missing a change', async (test) => {
    const place = await openPlace(test);
    for (const guestKey of ['one', 'two']) {
      await place.invite(guestKey);
      await place.publish(guestKey, 'p');
    }
    const proxy = await openFaultProxy(place.url);
    test.after(() => proxy.close());
    const { client, seen } = place.host(proxy.url);
    for (const guestKey of ['one', 'two']) await untilCurrent(client, place.point, guestKey);
    await proxy.goDown();
    await place.publish('one', 'q');
    await proxy.comeUp();
    await until(() => seen.changes.includes('one'), { message: 'changed' });
    await untilCurrent(client, place.point, 'one');
    const { source, bindings } = await client.getBindings({ extensionPointId: place.point, guestKey: 'two' });
    assert.equal(source, 'memory'); // unchanged, so it was not requested
    assert.deepEqual(Object.keys(bindings), ['p']);
    assert.deepEqual(seen.changes, ['one']);
  });

  it('reconnects to a restarted server, and resumes', async (test) => {
    const place = await openPlace(test);
    await place.invite('one');
    await place.publish('one', 'p');
    const { client, seen } = place.host();
    await untilCurrent(client, place.point, 'one');
    const startedMs = performance.now();
    await place.stop(place.first);
    assert.ok(performance.now() - startedMs < 15_000, 'streams hold up no shutdown');
    assert.equal((await client.getBindings({ extensionPointId: place.point, guestKey: 'one' })).isStale, true);
    await place.start();
    await place.publish('one', 'q');
    await until(() => seen.changes.length === 1, { message: 'changed' });
    await untilCurrent(client, place.point, 'one');
    assert.equal(seen.streams, 2);
  });

  it('revalidates all lists after the server was restored from a backup', async (test) => {
    const place = await openPlace(test);
    for (const guestKey of ['one', 'two']) {
      await place.invite(guestKey);
      await place.publish(guestKey, 'p');
    }
    await place.stop(place.first);
    const copy = join(place.folder, 'copy');
    await cp(place.dataDir, copy, { recursive: true });
    const again = await place.start();
    const { client, seen } = place.host();
    for (const guestKey of ['one', 'two']) await untilCurrent(client, place.point, guestKey);
    await place.publish('one', 'lost');
    await until(() => seen.changes.length === 1, { message: 'changed' });
    await place.stop(again);
    await rm(place.dataDir, { recursive: true });
    await cp(copy, place.dataDir, { recursive: true });
    await place.start();
    // One more change than was lost, so that sequence numbers alone look right.
    await place.publish('two', 'q');
    await place.publish('two', 'r');
    await until(
      async () => {
        const [one, two] = [
          await client.getBindings({ extensionPointId: place.point, guestKey: 'one' }),
          await client.getBindings({ extensionPointId: place.point, guestKey: 'two' }),
        ];
        return one.source === 'memory' && !('lost' in one.bindings) && two.source === 'memory' && 'r' in two.bindings;
      },
      { message: 'as it is by now' },
    );
  });

  it('polls once its token is revoked, and serves its cache', async (test) => {
    const place = await openPlace(test);
    await place.invite('one');
    await place.publish('one', 'p');
    const issued = await place.call<{ id: string; token: string }>('POST', 'tokens', {
      name: 'host',
      scopes: ['read'],
    });
    const { client } = place.host(place.url, { token: issued.token });
    await untilCurrent(client, place.point, 'one');
    await place.call('DELETE', `tokens/${issued.id}`);
    await until(
      async () =>
        (await client.getBindings({ extensionPointId: place.point, guestKey: 'one' })).error?.code === 'invalid_token',
      {
        message: 'refused',
      },
    );
    assert.deepEqual(await boundNames(client, place.point, 'one'), ['p']);
  });

  it('has the same lists as the server after changes of every kind, and soon serves them from memory', async (test) => {
    const place = await openPlace(test);
    const keys = ['a', 'b', 'c', 'd'];
    for (const guestKey of keys) await place.invite(guestKey);
    const proxy = await openFaultProxy(place.url);
    test.after(() => proxy.close());
    const { client } = place.host(proxy.url, { retry: { baseDelayMs: 20, maxDelayMs: 100 } });
    const artifact = (name: string) => `artifacts/${place.point}/plugin/${place.userId}/${name}`;
    const names = ['p', 'q', 'r'];
    for (let step = 0; step < 60; step++) {
      const [guestKey, name] = [random.pick(keys), random.pick(names)];
      if (random.chance(0.15)) proxy.cutEventStreams();
      for (const key of keys) await client.getBindings({ extensionPointId: place.point, guestKey: key });
      const attempt = random.pick<() => Promise<unknown>>([
        () => place.publish(guestKey, name),
        () => place.publish(guestKey, name),
        () => place.call('POST', `${artifact(name)}/rollback`, { version: 1 }),
        () => place.call('POST', `${artifact(name)}/versions/${1 + random.below(4)}/yank`, { reason: 'why' }),
        () => place.call('PUT', `${artifact(name)}/block`, { reason: 'why' }),
        () => place.call('DELETE', `${artifact(name)}/block`),
        () => place.call('DELETE', artifact(name)),
      ]);
      await attempt().catch(() => {}); // some are invalid at the moment
    }
    const fresh = createClient({ baseUrl: place.url, token: place.token, streaming: false, maxAgeMs: 0 });
    test.after(() => fresh.close());
    for (const key of keys) {
      const wanted = JSON.stringify(
        (await fresh.getBindings({ extensionPointId: place.point, guestKey: key })).bindings,
      );
      await until(
        async () => {
          const { source, bindings } = await client.getBindings({ extensionPointId: place.point, guestKey: key });
          return source === 'memory' && JSON.stringify(bindings) === wanted;
        },
        { message: 'reported' },
      );
    }
  });
});
