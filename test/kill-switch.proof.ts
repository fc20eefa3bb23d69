import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ClientOptions, createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { type KilledServer, killedServer } from '../packages/server/test/helpers/killed-server.ts';
import { openWorkshop, type Workshop } from '../packages/server/test/helpers/plugins.ts';
import { noPostgres, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../packages/server/test/helpers/s3.ts';
import { openService, type ServiceOptions } from '../packages/server/test/helpers/service.ts';
import { openFaultProxy } from './helpers/fault-proxy.ts';
import { until } from './helpers/until.ts';

const guestKeys = ['first', 'second'];
const plugin = 'median';

/** Nodes in processes of their own, a plugin that two guests bind, and hosts. */
async function openPlace(test: TestContext, nodeCount: number, config: ServiceOptions['config'] = {}) {
  const service = await openService({ config });
  const folder = await mkdtemp(join(tmpdir(), 'tenon-kill-switch-'));
  const isShared = config.databaseUrl === undefined;
  const nodes = Array.from({ length: nodeCount }, (_, at) =>
    killedServer(isShared ? service.dataDir : join(folder, `node-${at}`), { moduleWorkers: 1, ...config }),
  );
  const clients: Client[] = [];
  test.after(async () => {
    for (const client of clients) await client.close();
    for (const node of nodes) await node.kill();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });
  const workshop = await openWorkshop(service);
  const { contentAddress } = await workshop.publish(1);
  await Promise.all(nodes.map((node) => node.start()));
  const host = (url = '', options: Partial<ClientOptions> = {}) => {
    const client = createClient({ baseUrl: url, token: workshop.viewer.token, maxAgeMs: 0.001, ...options });
    clients.push(client);
    return client;
  };
  return { ...callsOf(workshop), workshop, contentAddress, folder, nodes, host };
}

/** The owner's calls to a node. */
function callsOf({ owner, path }: Workshop) {
  const call = async ({ url }: KilledServer, method: string, below: string, body?: object): Promise<number> => {
    const response = await fetch(`${url}${path()}${below}`, {
      method,
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
  return {
    call,
    async block(node: KilledServer): Promise<void> {
      assert.equal(await call(node, 'PUT', '/block', { reason: 'It sends data home.' }), 200);
    },
    async unblock(node: KilledServer): Promise<void> {
      assert.equal(await call(node, 'DELETE', '/block'), 204);
    },
  };
}

/** An idle host: it calls nothing, and learns of changes by its stream alone. */
async function openIdleHost(client: Client, workshop: Workshop, at: number) {
  const key = { extensionPointId: workshop.extensionPointId, guestKey: guestKeys[at % guestKeys.length] ?? '' };
  const seen = { isBound: true, changes: 0, requests: 0 };
  client.on('change', ({ bindings }) => {
    seen.changes++;
    seen.isBound = plugin in bindings;
  });
  await until(async () => (await client.getBindings(key)).source === 'memory', { message: 'the stream is live' });
  client.on('request', ({ operation }) => {
    if (operation === 'bindings') seen.requests++;
  });
  return seen;
}

async function blockAndKill(test: TestContext, config: ServiceOptions['config'] = {}): Promise<void> {
  const { nodes, workshop, host, block, unblock } = await openPlace(test, 3, config);
  const [first, second, third] = nodes as [KilledServer, KilledServer, KilledServer];
  const hosts = await Promise.all(
    Array.from({ length: 24 }, (_, at) => openIdleHost(host([second, third][at % 2]?.url), workshop, at)),
  );
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await first.start();
    await block(first);
    await first.kill();
    await until(() => hosts.every(({ isBound }) => !isBound), { message: `round ${round}: blocked` });
    await unblock(second);
    await until(() => hosts.every(({ isBound }) => isBound), { message: `round ${round}: unblocked` });
  }
  for (const { changes } of hosts) assert.equal(changes, 2 * rounds);
}

describe('a block', () => {
  it('reaches every idle host of a node, with one request each', async (test) => {
    const { nodes, workshop, host, block, unblock } = await openPlace(test, 1);
    const [node] = nodes as [KilledServer];
    const hosts = await Promise.all(Array.from({ length: 40 }, (_, at) => openIdleHost(host(node.url), workshop, at)));
    const rounds = 10;
    for (let round = 0; round < rounds; round++) {
      await block(node);
      await until(() => hosts.every(({ isBound }) => !isBound), { message: `round ${round}: blocked` });
      await unblock(node);
      await until(() => hosts.every(({ isBound }) => isBound), { message: `round ${round}: unblocked` });
    }
    for (const { changes, requests } of hosts) assert.deepEqual([changes, requests], [2 * rounds, 2 * rounds]);
  });

  it('reaches the hosts of other processes on the folder when its process is killed after its response', (test) =>
    blockAndKill(test));

  it('reaches the hosts of other nodes when its node is killed after its response', {
    skip: noPostgres,
  }, async (test) => {
    const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    test.after(async () => {
      postgres.stop();
      await objects.stop();
    });
    const { bucket, endpoint, credentials } = objects.options('plugins');
    await blockAndKill(test, {
      databaseUrl: (await postgres.createDatabase()).url,
      databaseConnections: 4,
      s3Bucket: bucket,
      s3Endpoint: endpoint,
      s3AccessKeyId: credentials?.accessKeyId,
      s3SecretAccessKey: credentials?.secretAccessKey,
    });
  });

  it('reaches hosts whose streams break all the time, and the plugin never comes back to one that lost it', async (test) => {
    const ends = new AbortController();
    test.after(() => ends.abort());
    const { nodes, workshop, host, block, unblock } = await openPlace(test, 1);
    const [node] = nodes as [KilledServer];
    const proxy = await openFaultProxy(node.url ?? '');
    test.after(() => proxy.close());
    const retry = { baseDelayMs: 20, maxDelayMs: 100 };
    // Idle hosts don't poll, so they need the events that they missed. The others ask all the time, with and without a stream.
    const idle = await Promise.all(
      Array.from({ length: 6 }, (_, at) => openIdleHost(host(proxy.url, { retry }), workshop, at)),
    );
    const states = Array.from({ length: 6 }, () => ({ isBound: true, moves: 0, streams: 0 }));
    const running = states.map(async (state, at) => {
      const client = host(proxy.url, { retry, maxAgeMs: 1 });
      client.on('response', ({ operation }) => {
        if (operation === 'changes') state.streams++;
      });
      const key = { extensionPointId: workshop.extensionPointId, guestKey: guestKeys[at % guestKeys.length] ?? '' };
      while (!ends.signal.aborted) {
        const isBound = plugin in (await client.getBindings(key)).bindings;
        if (isBound !== state.isBound) state.moves++;
        state.isBound = isBound;
        await sleep(10);
      }
    });
    const cutting = (async () => {
      for (; !ends.signal.aborted; await sleep(Math.random() * 300)) proxy.cutEventStreams();
    })();
    await until(() => states.every(({ streams }) => streams > 0));
    const rounds = 4;
    const hosts = [...idle, ...states];
    for (let round = 0; round < rounds; round++) {
      await block(node);
      await until(() => hosts.every(({ isBound }) => !isBound), { message: `round ${round}: blocked` });
      await sleep(Math.random() * 300);
      await unblock(node);
      await until(() => hosts.every(({ isBound }) => isBound), { message: `round ${round}: unblocked` });
      await sleep(Math.random() * 300);
    }
    ends.abort();
    await Promise.all([cutting, ...running]);
    for (const { changes } of idle) assert.equal(changes, 2 * rounds);
    for (const { moves, streams } of states) {
      assert.equal(moves, 2 * rounds);
      assert.ok(streams > 2, `${streams} streams`);
    }
  });

  it('is kept by hosts when the server is away, also by a new process with their store', async (test) => {
    const { nodes, workshop, folder, host, block } = await openPlace(test, 1);
    const [node] = nodes as [KilledServer];
    const { url } = node;
    const away = await openFaultProxy(url ?? '');
    test.after(() => away.close());
    const key = { extensionPointId: workshop.extensionPointId, guestKey: 'first', name: plugin };
    const options = {
      store: diskStore({ directory: join(folder, 'store') }),
      retry: { maxRetries: 0, baseDelayMs: 20 },
    };
    const [client, cutOff] = [host(url, options), host(away.url, { retry: options.retry })];
    const seen = await openIdleHost(client, workshop, 0);
    for (const each of [client, cutOff]) assert.equal((await each.loadPlugin(key)).isStale, false);
    await away.goDown();
    await block(node);
    await until(() => !seen.isBound);
    assert.equal((await cutOff.loadPlugin(key)).isStale, true, 'it could not learn of the block');
    await away.comeUp();
    await until(() =>
      cutOff.loadPlugin(key).then(
        () => false,
        ({ code }) => code === 'no_plugin',
      ),
    );
    await client.close(); // writes the store
    await node.kill();
    const next = host(url, options);
    await assert.rejects(next.loadPlugin(key), { code: 'no_plugin' });
    assert.equal((await next.getBindings(key)).isStale, true);
    await assert.rejects(cutOff.loadPlugin(key), { code: 'no_plugin' });
  });

  it('leaves the bytes to hosts with an older list until the team deletes the plugin, and refuses them to the publisher', async (test) => {
    const { nodes, workshop, contentAddress, block, call, host } = await openPlace(test, 1);
    const [node] = nodes as [KilledServer];
    const client = host(node.url);
    await block(node);
    assert.ok((await client.getContent(contentAddress)).length > 0);
    const again = await workshop.tryPublish(1);
    assert.deepEqual([again.statusCode, again.json().code], [403, 'plugin_blocked']);
    assert.equal(await call(node, 'DELETE', ''), 204);
    await assert.rejects(host(node.url).getContent(contentAddress), { code: 'not_found' });
    assert.equal((await workshop.tryPublish(1)).json().code, 'plugin_blocked');
  });
});
