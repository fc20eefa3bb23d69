import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Client, createClient } from '@tenon/client';
import { createExtismPlugin } from '@tenon/client/extism';
import { noPostgres, type PostgresServer, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from '../packages/server/test/helpers/s3.ts';
import { type RunningServer, startServer } from './helpers/server.ts';
import { until } from './helpers/until.ts';
import { wat } from './helpers/wat.ts';

/*
 * Staged roll-outs to 1,000 guests, on two nodes. Hosts run the plugins in Extism.
 */

const guestCount = 1000;
const shares = [1, 10, 50, 100];
const plan = {
  steps: shares.map((percent) => ({ percent, holdSeconds: null })),
  halt: { minCalls: 5, errorRate: 0.02, p95Ratio: null, memoryRatio: null },
};

/** A plugin whose call ends as the instructions say. */
const pluginOf = (end: string, version: number) =>
  wat(
    `(module (memory (export "memory") 1) (func (export "run") (result i32) ${end}) (func i32.const ${version} drop))`,
  );

interface Listed {
  readonly etag: string;
  readonly address: string;
}

type Lists = ReadonlyMap<string, Listed>;

interface RollOut {
  readonly state: string;
  readonly reason: string | null;
  readonly step: number;
  readonly versionId: string;
  readonly reachedGuests: number;
  readonly totalGuests: number;
}

describe('staged roll-outs to 1,000 guests', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let nodes: readonly [RunningServer, RunningServer];
  let extensionPointId: string;
  const guestKeys = Array.from({ length: guestCount }, (_, at) => `tenant/${at}`);
  const clients: Client[] = [];

  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    const { url } = await postgres.createDatabase();
    const { bucket, endpoint = '', credentials } = objects.options('plugins');
    const settings = {
      TENON_DATABASE_URL: url,
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
      TENON_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
    };
    nodes = [await startServer({ settings }), await startServer({ settings })];
    const app = await call<{ id: string }>('POST', 'apps', { name: 'Editor' });
    const extensionPoint = { name: 'Numbers', schema: { exports: ['run'] }, rollOut: plan };
    ({ id: extensionPointId } = await call<{ id: string }>('POST', `apps/${app.id}/extension-points`, extensionPoint));
    for (let at = 0; at < guestCount; at += 100) {
      const invitations = guestKeys.slice(at, at + 100).map((guestKey) => ({ guestKey, name: guestKey }));
      const { objects: invited } = await call<{ objects: { link: string }[] }>('POST', `apps/${app.id}/invitations`, {
        invitations,
        deliveryMethod: 'link',
      });
      for (const { link } of invited) {
        await call('POST', 'invitations/accept', { code: new URL(link).searchParams.get('code') });
      }
    }
  });
  after(async () => {
    for (const client of clients) await client.close();
    for (const node of nodes) await node.stop();
    postgres.stop();
    await objects.stop();
  });

  const urlOf = (node: 0 | 1): string => nodes[node].quickstart.TENON_URL ?? '';
  const token = (): string => nodes[0].quickstart.TENON_TOKEN ?? '';

  async function call<T>(method: string, path: string, body?: unknown, node: 0 | 1 = 0): Promise<T> {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`${urlOf(node)}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token()}`,
        'content-type': isModule ? 'application/wasm' : 'application/json',
      },
      ...(body === undefined ? {} : { body: isModule ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  const pluginPath = () => `artifacts/${extensionPointId}/plugin/${nodes[0].quickstart.TENON_USER_ID}/counter`;

  const publish = (bytes: Uint8Array) => call('PUT', pluginPath(), bytes);

  const rollOutOf = (version: number, node: 0 | 1 = 0) =>
    call<RollOut>('GET', `${pluginPath()}/versions/${version}/roll-out`, undefined, node);

  const promote = (version: number, node: 0 | 1) =>
    call<RollOut>('POST', `${pluginPath()}/versions/${version}/roll-out/promote`, {}, node);

  /** The list of each guest key, as a node serves it. */
  async function listAll(node: 0 | 1): Promise<Lists> {
    const read = async (guestKey: string): Promise<[string, Listed]> => {
      const path = `/api/v1/extension-points/${extensionPointId}/bindings/${encodeURIComponent(guestKey)}`;
      const response = await fetch(urlOf(node) + path, { headers: { authorization: `Bearer ${token()}` } });
      const list = (await response.json()) as Record<string, { contentAddress: string }>;
      return [guestKey, { etag: response.headers.get('etag') ?? '', address: list.counter?.contentAddress ?? '' }];
    };
    const lists = new Map<string, Listed>();
    for (let at = 0; at < guestCount; at += 50) {
      for (const [key, list] of await Promise.all(guestKeys.slice(at, at + 50).map(read))) lists.set(key, list);
    }
    return lists;
  }

  const havingAddress = (lists: Lists, address: string): Set<string> =>
    new Set([...lists].filter(([, list]) => list.address === address).map(([key]) => key));

  /** Reads the lists of both nodes, and requires that they are the same, once they have the roll-out's present step. */
  async function listBoth(): Promise<Lists> {
    const [one, other] = await Promise.all([listAll(0), listAll(1)]);
    assert.deepEqual(one, other);
    return one;
  }

  /** The entity tags changed for exactly those guests whose version changed. */
  function assertOnlyChangedTags(before: Lists, now: Lists): void {
    for (const [key, { etag, address }] of now) {
      const old = before.get(key);
      assert.equal(etag !== old?.etag, address !== old?.address, `the entity tag of ${key}`);
    }
  }

  function connect(node: 0 | 1): Client {
    const client = createClient({ baseUrl: urlOf(node), token: token(), maxAgeMs: 0, reports: { intervalMs: 500 } });
    clients.push(client);
    return client;
  }

  /** Runs the plugin of each guest in Extism. @returns the guests whose calls failed */
  async function runAll(calls: number): Promise<Set<string>> {
    const failed = new Set<string>();
    const hosts = [connect(0), connect(1)];
    for (const [at, guestKey] of guestKeys.entries()) {
      const host = hosts[at % 2];
      assert.ok(host);
      const plugin = await createExtismPlugin(host, { extensionPointId, guestKey, name: 'counter' });
      for (let n = 0; n < calls; n++) await plugin.call('run').catch(() => failed.add(guestKey));
      await plugin.close();
    }
    await Promise.all(hosts.map((host) => host.close()));
    return failed;
  }

  let current: string;
  let lists: Lists;

  it('gives the first version to all guests', async () => {
    await publish(pluginOf('i32.const 0', 1));
    lists = await listBoth();
    current = lists.get('tenant/0')?.address ?? '';
    assert.equal(havingAddress(lists, current).size, guestCount);
  });

  it('reaches the same guests on both nodes, in shares within binomial bounds, and never fewer', async () => {
    await publish(pluginOf('i32.const 0', 2));
    const { versionId } = await rollOutOf(2);
    let reached = new Set<string>();
    for (const [step, percent] of shares.entries()) {
      if (step > 0) await promote(2, step % 2 === 0 ? 0 : 1);
      const now = await listBoth();
      assertOnlyChangedTags(lists, now);
      const changed = new Set([...now].filter(([, { address }]) => address !== current).map(([key]) => key));
      const expected = guestKeys.filter((key) => bucketOf(versionId, key) < percent * 100);
      assert.deepEqual([...changed].sort(), expected.sort());
      assert.ok(isWithinBounds(changed.size, guestCount, percent / 100), `${changed.size} guests at ${percent} %`);
      assert.ok(reached.isSubsetOf(changed), 'a guest lost the version');
      const { state, reachedGuests, totalGuests } = await rollOutOf(2, 1);
      assert.deepEqual([state, reachedGuests, totalGuests], ['running', changed.size, guestCount]);
      if (step === 1) {
        await nodes[0].kill();
        await nodes[0].restart();
        assert.deepEqual(await listBoth(), now, 'a restart changed lists');
      }
      assert.deepEqual(await runAll(1), new Set());
      [lists, reached] = [now, changed];
    }
    assert.equal((await promote(2, 0)).state, 'completed');
    assert.deepEqual(await listBoth(), lists, 'the end of the roll-out changed lists');
    current = lists.get('tenant/0')?.address ?? '';
  });

  it('halts by itself at the first step when the version traps', async () => {
    await publish(pluginOf('unreachable', 3));
    const atFirst = await listBoth();
    const reached = new Set([...atFirst].filter(([, { address }]) => address !== current).map(([key]) => key));
    assert.ok(isWithinBounds(reached.size, guestCount, 0.01));
    const failed = await runAll(10);
    assert.ok(failed.size > 0 && failed.isSubsetOf(reached), 'only guests of the first step may fail');
    const halted = await until(async () => {
      const rollOut = await rollOutOf(3);
      return rollOut.state === 'running' ? undefined : rollOut;
    });
    assert.deepEqual([halted.state, halted.step, halted.reachedGuests], ['halted', 0, 0]);
    assert.match(halted.reason ?? '', /calls/);
    const now = await listBoth();
    assert.equal(havingAddress(now, current).size, guestCount, 'all guests are back on the version before');
    assertOnlyChangedTags(atFirst, now);
    assert.deepEqual(await runAll(1), new Set());
  });
});

/** Whether a count is within the bounds that a binomial distribution leaves with a probability of at most 2 × 10⁻⁶. */
function isWithinBounds(count: number, n: number, p: number): boolean {
  if (p === 1) return count === n;
  let [below, probability] = [0, (1 - p) ** n];
  for (let k = 0; k < count; k++) {
    below += probability;
    probability *= ((n - k) / (k + 1)) * (p / (1 - p));
  }
  return below < 1 - 1e-6 && below + probability > 1e-6;
}

/** The first 32 bits of the SHA-256 of the version's id and the guest key, modulo 10,000. */
function bucketOf(versionId: string, guestKey: string): number {
  const hash = createHash('sha256').update(versionId + guestKey);
  return hash.digest().readUInt32BE(0) % 10_000;
}
