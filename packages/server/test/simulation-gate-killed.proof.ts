import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BindingList, ExtensionPointId, PublishedPlugin } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import type { Config } from '../src/config/config.ts';
import { contentAddressOf } from '../src/plugins/publish.ts';
import { type KilledServer, killedServer } from './helpers/killed-server.ts';
import { noPostgres, startPostgres } from './helpers/postgres.ts';
import { openService, type TestUser } from './helpers/service.ts';
import { wat } from './helpers/wat.ts';
import { makeApp, makeExtensionPoint, makeGuest, ok } from './helpers/world.ts';

/*
 * Publishes modules whose bytes decide what their test comes to, and kills servers and the processes of simulations with SIGKILL at each
 * step of a publish and of a test. Each round publishes a part of the modules, waits until no version is tested, and compares what
 * hosts get with what the bytes decide.
 *
 * A simulation takes 0.2 seconds of processor time, and each kill repeats some. 1,000 publishes take minutes, so a run makes
 * fewer by default. `PUBLISHES=1000` makes 1,000.
 */
const publishes = Number(process.env.PUBLISHES ?? 200);

/** The code of `evaluate`, by what the test of the module comes to. */
const bodies = {
  passed: `(call $return (i32.const ${'y'.charCodeAt(0)})) (i32.const 0)`,
  failed: `(call $return (i32.const ${'n'.charCodeAt(0)})) (i32.const 0)`,
  trapped: 'unreachable',
  timed_out: '(loop $again (br $again)) (i32.const 0)',
} as const;
type Kind = keyof typeof bodies;

const modules = Object.fromEntries(
  Object.entries(bodies).map(([kind, body]) => [
    kind,
    wat(`(module
      (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
      (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
      (import "extism:host/env" "output_set" (func $set (param i64 i64)))
      (func $return (param $byte i32) (local $at i64)
        (local.set $at (call $alloc (i64.const 1)))
        (call $store (local.get $at) (local.get $byte))
        (call $set (local.get $at) (i64.const 1)))
      (func (export "evaluate") (result i32) ${body}))`),
  ]),
);

/** What each simulation of a run checks. The name changes the simulation, and no verdict. */
const fixturesOf = (name: string) => [{ name, export: 'evaluate', expect: { equals: 'y' } }];

/** A module that is like no other number's. */
function moduleOf(kind: Kind, number: number): Buffer {
  const section = Buffer.from([0, 6, 1, 0x6e, 0, 0, 0, 0]);
  section.writeUInt32LE(number, 4);
  return Buffer.concat([modules[kind] as Uint8Array, section]);
}

/** Tests that never end cost most of the time, so they are rare. */
function kindOf(number: number): Kind {
  if (number % 100 === 42) return 'timed_out';
  const random = Math.random();
  return random < 0.5 ? 'passed' : random < 0.85 ? 'failed' : 'trapped';
}

const constants: Partial<Config> = {
  simulationsAtOnce: 2,
  simulationSpares: 2,
  simulationTimeoutMs: 5000,
  simulationPollMs: 100,
  simulationLeaseMs: 900,
  simulationRetryMs: 200,
  simulationWaitMs: 50,
  databaseConnections: 4,
};

interface Publisher {
  readonly user: TestUser;
  readonly guestKeys: readonly string[];
}

interface Options {
  readonly publishes: number;
  readonly nodes: number;
  readonly databaseUrl?: string;
}

async function proveGate(context: TestContext, { publishes, nodes: nodeCount, databaseUrl }: Options): Promise<void> {
  const database = databaseUrl === undefined ? {} : { databaseUrl };
  const service = await openService({ config: { ...database, databaseConnections: 4 } });
  const nodes = Array.from({ length: nodeCount }, () => killedServer(service.dataDir, { ...constants, ...database }));
  const random = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  const owner = await service.user();
  const appId = await makeApp(service, owner);
  const id = (await makeExtensionPoint(service, owner, appId)) as ExtensionPointId;
  const simulate = (name: string) =>
    ok(service, 'PUT', `/api/v1/extension-points/${id}/simulations/answers`, {
      token: owner.token,
      json: { fixtures: fixturesOf(name) },
    });
  await simulate('first');
  const publishers: Publisher[] = [];
  for (let number = 0; number < 8; number++) {
    const user = await service.user(`Publisher ${number}`);
    const guestKeys = [`${number}/a`, `${number}/b`];
    for (const guestKey of guestKeys) await makeGuest(service, owner, appId, guestKey, user);
    publishers.push({ user, guestKeys });
  }

  const kinds = new Map<string, Kind>(); // by content address
  /** The content address that must be bound in the end, by plugin: the last that passes. */
  const expected = new Map<string, string>();
  const names = ['alpha', 'beta', 'gamma'];
  const counts = { answered: 0, seen: 0, servers: 0, simulations: 0 };
  const failing = new AbortController();
  const { signal } = failing;
  let answered = Promise.withResolvers<void>();

  /** Sends a request to any server that runs, until one answers it. */
  const send = async (path: string, user: TestUser, init: RequestInit = {}): Promise<Response> => {
    for (; ; await sleep(20)) {
      signal.throwIfAborted();
      const url = random(nodes).url;
      if (url === undefined) continue;
      const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/wasm' };
      const response = await fetch(url + path, { ...init, headers }).catch(() => undefined);
      if (response === undefined || response.status === 503) continue;
      const body = await response.text().catch(() => undefined); // the server may be killed in the middle
      if (body === undefined) continue;
      assert.ok(response.status < 300, `${init.method ?? 'GET'} ${path}: ${response.status} ${body}`);
      return new Response(body, { status: response.status });
    }
  };

  const publish = async ({ user }: Publisher, numbers: number[]): Promise<void> => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const kind = kindOf(number);
      const bytes = moduleOf(kind, number);
      const contentAddress = contentAddressOf(bytes);
      kinds.set(contentAddress, kind);
      const pluginId = `${id}/plugin/${user.id}/${random(names)}`;
      const body = new Uint8Array(bytes);
      const response = await send(`/api/v1/artifacts/${pluginId}`, user, { method: 'PUT', body });
      assert.equal(((await response.json()) as PublishedPlugin).contentAddress, contentAddress);
      if (kind === 'passed') expected.set(pluginId, contentAddress);
      counts.answered++;
      answered.resolve();
      answered = Promise.withResolvers();
    }
  };

  const listOf = async (guestKey: string): Promise<BindingList> => {
    const path = `/api/v1/extension-points/${id}/bindings/${encodeURIComponent(guestKey)}`;
    const list = (await (await send(path, owner)).json()) as BindingList;
    for (const { id, contentAddress } of Object.values(list)) {
      assert.equal(kinds.get(contentAddress), 'passed', `${id} under ${guestKey} is bound to ${contentAddress}`);
    }
    counts.seen++;
    return list;
  };
  const watch = async (isOver: () => boolean): Promise<void> => {
    const guestKeys = publishers.flatMap((publisher) => publisher.guestKeys);
    while (!isOver()) {
      await listOf(random(guestKeys));
      await sleep(10, undefined, { signal });
    }
  };

  /** The steps at which processes are killed. Each resolves at once when it happens, or after some time if it does not. */
  const queue = () => service.store.read.simulationQueue();
  const untilOpen = (count: number) => {
    const areFew = async () => {
      signal.throwIfAborted();
      const { queued, running } = await queue();
      return queued + running <= count;
    };
    return until(areFew, { timeoutMs: 180_000, intervalMs: 20, message: 'tests are open' });
  };
  /** How many publishes were answered, and how many tests ended. */
  const progress = async () => {
    const { queued, running } = await queue();
    return 2 * counts.answered - queued - running;
  };
  const happens = (condition: () => Promise<boolean>) =>
    until(condition, { timeoutMs: 1000, intervalMs: 3 }).then(
      () => {},
      () => {},
    );
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    anyTime: () => sleep(Math.random() * 1000),
    publishAnswered: () => Promise.race([answered.promise, sleep(1000)]),
    testQueued: () => happens(async () => (await queue()).queued > 0),
    testRuns: () => happens(async () => (await queue()).running > 0),
    async testEnds() {
      const before = await queue();
      await happens(async () => (await queue()).running < before.running);
    },
  };
  const stepCounts: Record<string, number> = {};
  const restart = async (node: KilledServer, untilKilledMs?: number): Promise<void> => {
    await node.kill();
    counts.servers++;
    signal.throwIfAborted();
    const started = node.start();
    if (untilKilledMs === undefined) return started;
    await sleep(untilKilledMs); // it starts, or takes over the tests of the killed one
    await restart(node);
    await started;
  };
  const kill = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      // By progress, not by time: a busy machine would otherwise do nothing but start servers.
      const next = (await progress()) + Math.random() * 16;
      while (!isOver() && (await progress()) < next) await sleep(20, undefined, { signal });
      const step = random(Object.keys(steps));
      await steps[step]?.();
      if (isOver()) return;
      const node = random(nodes);
      if (node.killSimulation()) counts.simulations++;
      if (Math.random() < 0.35) await restart(node, Math.random() < 0.2 ? Math.random() * 1000 : undefined);
      stepCounts[step] = (stepCounts[step] ?? 0) + 1;
    }
  };

  /** Compares what hosts get, and what publishers see, with what the bytes decide. */
  const check = async (): Promise<void> => {
    for (const { user, guestKeys } of publishers) {
      for (const guestKey of guestKeys) {
        const bound = Object.values(await listOf(guestKey)).map((one) => [one.id, one.contentAddress]);
        const mine = [...expected].filter(([pluginId]) => pluginId.includes(user.id));
        assert.deepEqual(bound.sort(), mine.sort(), `the bindings of ${guestKey}`);
      }
    }
    const plugins = await service.store.read.plugins(id, { limit: 1000 });
    const lists = await Promise.all(plugins.map((each) => service.store.read.versions(each, { limit: 10_000 })));
    const versions = lists.flat();
    for (const { contentAddress, state, verdict, number, name, userId } of versions) {
      const kind = kinds.get(contentAddress);
      const wanted = kind === 'passed' ? 'published, passed' : `failed, ${kind === 'timed_out' ? kind : 'failed'}`;
      assert.equal(`${state}, ${verdict}`, wanted, `${kind}: version ${number} of ${userId}/${name}`);
    }
    assert.deepEqual(new Set(versions.map((each) => each.contentAddress)), new Set(kinds.keys()));
  };

  try {
    await Promise.all(nodes.map((node) => node.start()));
    for (let first = 0; first < publishes; first += roundSize) {
      let isTested = false;
      const numbers = Array.from({ length: Math.min(roundSize, publishes - first) }, (_, index) => first + index);
      let isCalm = false;
      const publishAll = async (): Promise<void> => {
        await Promise.all([
          ...publishers.map((publisher) => publish(publisher, numbers)),
          sleep(500).then(() => simulate(`round ${first}`)), // tests that are running are repeated
        ]);
        await untilOpen(roundSize / 4);
        isCalm = true;
      };
      const round = async (): Promise<void> => {
        await Promise.all([publishAll(), kill(() => isCalm)]);
        await untilOpen(0);
        isTested = true;
      };
      try {
        await Promise.all([round(), watch(() => isTested)]);
      } catch (error) {
        failing.abort(error);
        throw error;
      }
      await check();
    }
    context.diagnostic(JSON.stringify({ ...counts, steps: stepCounts }));
    assert.equal(counts.answered, publishes);
    assert.ok(counts.servers > 0 && counts.simulations > 0);
  } finally {
    failing.abort();
    for (const node of nodes) await node.kill();
    await service.close();
  }
}

/** After so many publishes, the processes are left alone until all tests have ended. */
const roundSize = 50;

describe('servers and simulations that are killed', { skip: process.platform !== 'linux' }, () => {
  it('bind no version that did not pass, and lose none that passed', { timeout: 1_200_000 }, (context) =>
    proveGate(context, { publishes, nodes: 1 }),
  );

  it('do so on two nodes with one PostgreSQL', { skip: noPostgres, timeout: 1_200_000 }, async (context) => {
    const postgres = await startPostgres();
    const { url: databaseUrl } = await postgres.createDatabase();
    try {
      await proveGate(context, { publishes: Math.ceil(publishes / 2), nodes: 2, databaseUrl });
    } finally {
      postgres.stop();
    }
  });
});
