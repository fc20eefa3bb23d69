import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { raisedQuotas } from '../../../../test/helpers/raised-quotas.ts';
import { loadConfig } from '../../src/index.ts';
import type { BareOrder, Canned } from './bare-server.ts';
import { bareKindsOf, type Kinds, kindsOf } from './cases.ts';
import { type Node, startNode } from './nodes.ts';
import { makeUser, type Stage, setStage } from './stage.ts';
import type { Stores } from './stores.ts';

/** Who is measured. */
export interface Contender {
  readonly name: string;
  readonly ports: readonly number[];
  /** Its processes, and those of the stores that it has besides. */
  readonly pids: readonly number[];
  readonly storePids: readonly number[];
  /** What it is asked; it stays out of cases for which there is nothing. */
  readonly kinds: Kinds;
  stop(): Promise<void>;
}

/** A contender that is ours. */
export interface TenonContender extends Contender {
  readonly stage: Stage;
}

/** Lifts the limits that a load generator exceeds. */
const withoutLimits = {
  TENON_RATES: 'writes-per-second=1000000,write-burst=1000000',
  TENON_QUOTAS: raisedQuotas,
};

/** For a checkout of any commit: earlier ones have other names for these settings, and fewer quotas. */
export const withoutLimitsInAnyTree = {
  ...withoutLimits,
  TENON_QUOTAS: raisedQuotas
    .split(',')
    .filter((quota) => !/^(webhooks|simulations|app-simulations)/.test(quota))
    .join(),
  TENON_WRITES_PER_SECOND: '1000000',
  TENON_WRITE_BURST: '1000000',
};

export interface TenonOptions {
  readonly name: string;
  /** For everything that it writes. */
  readonly folder: string;
  readonly stores: Stores;
  readonly nodes: number;
  /** Settings besides. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts nodes that have the same stores, and makes something to ask them for. */
export async function startTenon({ name, folder, stores, nodes, ...options }: TenonOptions): Promise<TenonContender> {
  const reserved = await stores.reserve();
  const dataDir = join(folder, 'data');
  const stage = await fill(folder, dataDir, { ...withoutLimits, ...reserved.filling });
  const environment = { ...withoutLimits, ...options.environment, ...reserved.environment };
  const isEmbedded = stores.pids.length === 0;
  const started: Node[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((node) => node.stop()));
  };
  try {
    for (let at = 0; at < nodes; at++) {
      const own = join(folder, `node-${at}`);
      started.push(await startNode({ folder: own, environment, ...(isEmbedded && { dataDir }) }));
    }
    const ports = started.map(({ port }) => port);
    const { headers } = await answerOf(ports[0] ?? 0, stage.bindings, stage.headers);
    const pids = started.map(({ pid }) => pid);
    return { name, ports, pids, storePids: stores.pids, kinds: kindsOf(stage, headers.etag ?? ''), stop, stage };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Has a node make something to ask for, which then goes. */
async function fill(folder: string, dataDir: string, environment: Readonly<Record<string, string>>): Promise<Stage> {
  const user = await makeUser(loadConfig({ dataDir }, environment));
  const node = await startNode({ folder: join(folder, 'filling'), dataDir, environment });
  try {
    return await setStage(node.port, user);
  } finally {
    await node.stop();
  }
}

/** Starts a bare server that gives the same answers as one of ours. */
export async function startBare({ ports: [port = 0], stage, kinds }: TenonContender): Promise<Contender> {
  const answers = new Map<string, Canned>();
  for (const path of [stage.bindings, ...Object.values(stage.contents)])
    answers.set(path, await answerOf(port, path, stage.headers));
  const bare = await startBareServer(answers);
  return {
    name: 'node:http',
    ports: [bare.port],
    pids: [bare.pid],
    storePids: [],
    kinds: bareKindsOf(kinds),
    stop: bare.stop,
  };
}

export interface BareServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startBareServer(answers: BareOrder['answers']): Promise<BareServer> {
  const child = fork(new URL('./bare-server.ts', import.meta.url), { serialization: 'advanced' });
  // As long as what ours says of a publish.
  const published = { headers: { 'content-type': 'application/json' }, body: Buffer.alloc(600, ' ') };
  const order: BareOrder = { answers, published };
  child.send(order);
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

async function answerOf(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<Canned> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  const kept = ['etag', 'content-type'].map((name) => [name, response.headers.get(name) ?? ''] as const);
  return { headers: Object.fromEntries(kept), body: new Uint8Array(await response.arrayBuffer()) };
}
