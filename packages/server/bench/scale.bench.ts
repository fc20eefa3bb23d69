/**
 * What a binding list (A2) costs when there are more and more guest keys, each with ten plugins: asked for again, while another
 * process publishes without a pause, and for the first time, which takes a look into the database. One node serves; a second one, on
 * the same data, takes what is published. The processor time of a request is the figure to go by; that of a bare `node:http` server
 * in the same round says how busy the machine was meanwhile.
 *
 *     npm run bench -- packages/server/bench/scale.bench.ts --help
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { App, ExtensionPoint } from '@tenon/protocol';
import { raisedQuotas } from '../../../test/helpers/raised-quotas.ts';
import { loadConfig } from '../src/index.ts';
import { type BareServer, startBareServer } from './support/contenders.ts';
import { type LoadGenerator, startLoadGenerator } from './support/load.ts';
import { type Node, startNode } from './support/nodes.ts';
import { tellFailure } from './support/options.ts';
import { cpuTimeUs } from './support/processes.ts';
import { describeMachine } from './support/report.ts';
import type { RequestKind } from './support/requests.ts';
import { createProgress, type Defer, withFolder } from './support/run.ts';
import {
  addKeys,
  addPublishers,
  keyPrefix,
  openPostgresTarget,
  openSqliteTarget,
  type Place,
  pluginsPerKey,
} from './support/scale-data.ts';
import { help, readScaleOptions, type ScaleOptions } from './support/scale-options.ts';
import { type Cost, type CostName, drawPoints, formatTable, type Point } from './support/scale-report.ts';
import { makeUser } from './support/stage.ts';
import { medianOf } from './support/statistics.ts';
import { missingStores, type StoreName, startStores } from './support/stores.ts';

/** How many keys are asked for again and again. */
const hotKeys = 1000;
const connections = 16;
const progress = createProgress();

/** A server with someone who may ask, and an extension point without guests. */
interface Scene {
  readonly place: Place;
  readonly headers: Readonly<Record<string, string>>;
}

async function makeScene(
  folder: string,
  dataDir: string,
  environment: Readonly<Record<string, string>>,
): Promise<Scene> {
  const user = await makeUser(loadConfig({ dataDir }, environment));
  const headers = { authorization: `Bearer ${user.token}` };
  const node = await startNode({ folder, dataDir, environment });
  const post = async (path: string): Promise<unknown> => {
    const body = JSON.stringify({ name: 'bench' });
    const fields = { ...headers, 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${node.port}/api/v1${path}`, {
      method: 'POST',
      headers: fields,
      body,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  try {
    const { id: appId } = (await post('/apps')) as App;
    const { id: extensionPointId } = (await post(`/apps/${appId}/extension-points`)) as ExtensionPoint;
    return { place: { appId, extensionPointId }, headers };
  } finally {
    await node.stop();
  }
}

/** Asks for the lists of the first so many keys, in no order. */
function lists({ place, headers }: Scene, keys: number): RequestKind {
  return {
    name: 'A2, 304',
    weight: 1,
    method: 'GET',
    path: `/api/v1/extension-points/${place.extensionPointId}/bindings/${keyPrefix}{any}`,
    anyBelow: keys,
    headers: { ...headers, 'if-none-match': '*' },
    status: 304,
  };
}

/** Commits through another node: each is news for the one that serves, and touches none of the lists that are asked for. */
function commits({ headers }: Scene): RequestKind {
  const body = Buffer.from(JSON.stringify({ name: 'one more' }));
  const fields = { ...headers, 'content-type': 'application/json' };
  return { name: 'commit', weight: 1, method: 'POST', path: '/api/v1/apps', headers: fields, body, status: 201 };
}

const bareList = { path: '/list', etag: '"the-one"' } as const;

/** The like of a bare server, which has one list. */
const bareRequest: RequestKind = {
  name: 'node:http, 304',
  weight: 1,
  method: 'GET',
  path: bareList.path,
  headers: { 'if-none-match': bareList.etag },
  status: 304,
};

interface Nodes {
  readonly bare: BareServer;
  readonly serving: Node;
  readonly forgetful: Node;
  readonly writing: Node;
}

async function measurePoint(
  generators: readonly [LoadGenerator, LoadGenerator],
  nodes: Nodes,
  scene: Scene,
  keys: number,
  storePids: readonly number[],
  { seconds, rounds }: ScaleOptions,
): Promise<Pick<Point, 'costs' | 'commitsPerSecond' | 'residentMiB'>> {
  const [asking, committing] = generators;
  const rates: number[] = [];
  const measure = async (name: CostName, node: Node, below: number, isWriting: boolean): Promise<Cost> => {
    const of: Omit<Cost, 'name'>[] = [];
    await warmUp(asking, { ports: [node.port], connections, seconds, kinds: [lists(scene, below)] });
    for (let round = 0; round < rounds; round++) {
      const bareUs = await measureBare(asking, nodes.bare, seconds);
      const before = [cpuTimeUs([node.pid]), cpuTimeUs(storePids)] as const;
      const order = { ports: [node.port], connections, seconds, kinds: [lists(scene, below)] };
      const writes = isWriting
        ? committing.load({ ports: [nodes.writing.port], connections: 1, seconds, kinds: [commits(scene)] })
        : undefined;
      const { requests, requestsPerSecond } = await asking.load(order);
      const after = [cpuTimeUs([node.pid]), cpuTimeUs(storePids)] as const;
      const written = await writes;
      if (written !== undefined) rates.push(written.requestsPerSecond);
      const aRequest = (at: 0 | 1) => ((after[at] ?? Number.NaN) - (before[at] ?? Number.NaN)) / requests;
      const cpuUs = aRequest(0);
      const storeCpuUs = storePids.length > 0 ? aRequest(1) : undefined;
      of.push({ cpuUs, timesBare: cpuUs / bareUs, storeCpuUs, requestsPerSecond });
    }
    return {
      name,
      cpuUs: medianOf(of, (one) => one.cpuUs),
      timesBare: medianOf(of, (one) => one.timesBare),
      storeCpuUs: medianOf(of, (one) => one.storeCpuUs),
      requestsPerSecond: medianOf(of, (one) => one.requestsPerSecond),
    };
  };
  const hot = Math.min(hotKeys, keys);
  const again = await measure('asked again', nodes.serving, hot, false);
  const residentMiB = residentMemory(nodes.serving.pid);
  const costs = [
    again,
    await measure('while others commit', nodes.serving, hot, true),
    await measure('asked first', nodes.forgetful, keys, false),
  ];
  return { costs, commitsPerSecond: medianOf(rates, (rate) => rate), residentMiB };
}

/** Processor time of a bare server for a request, in microseconds. */
async function measureBare(generator: LoadGenerator, { port, pid }: BareServer, seconds: number): Promise<number> {
  const before = cpuTimeUs([pid]) ?? Number.NaN;
  const { requests } = await generator.load({ ports: [port], connections, seconds, kinds: [bareRequest] });
  return ((cpuTimeUs([pid]) ?? Number.NaN) - before) / requests;
}

/** Asks until what is to be kept is in memory: each of the keys that are asked for again has then been drawn, more than likely. */
async function warmUp(generator: LoadGenerator, order: Parameters<LoadGenerator['load']>[0]): Promise<void> {
  for (let asked = 0; asked < 15 * hotKeys; ) asked += (await generator.load(order)).requests;
}

function residentMemory(pid: number): number {
  const [, resident = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Math.round((Number(resident) * 4096) / 2 ** 20);
}

/** So little memory that hardly a list stays in the cache. */
const forgetful = { TENON_MEMORY_MB: '1', TENON_LIMITS: 'module-bytes=64KiB,config-bytes=64KiB' };

async function measureStore(store: StoreName, options: ScaleOptions, folder: string, defer: Defer): Promise<Point[]> {
  const stores = await startStores(store);
  defer(() => stores.stop());
  const { environment: reserved } = await stores.reserve();
  const environment = {
    ...reserved,
    TENON_RATES: 'writes-per-second=1000000,write-burst=1000000',
    TENON_QUOTAS: raisedQuotas,
  };
  const dataDir = join(folder, `${store}-data`);
  const scene = await makeScene(join(folder, `${store}-making`), dataDir, environment);
  const openTarget = async () =>
    reserved.TENON_DATABASE_URL === undefined
      ? openSqliteTarget(join(dataDir, 'tenon.db'))
      : openPostgresTarget(reserved.TENON_DATABASE_URL);
  const generators = [startLoadGenerator(1), startLoadGenerator(1)] as const;
  for (const generator of generators) defer(() => generator.close());
  const { path, etag } = bareList;
  const bare = await startBareServer(new Map([[path, { headers: { etag }, body: new Uint8Array(1000) }]]));
  defer(() => bare.stop());
  const points: Point[] = [];
  let users: string[] = [];
  let there = 0;
  for (const keys of options.sizes) {
    progress.tell(`${store}, ${keys} keys: filling in`);
    const target = await openTarget();
    if (there === 0) users = await addPublishers(target, scene.place);
    await addKeys(target, scene.place, users, there, keys);
    await target.analyze();
    await target.close();
    there = keys;
    const start = (name: string, more: Readonly<Record<string, string>> = {}) =>
      startNode({ folder: join(folder, `${store}-${name}`), dataDir, environment: { ...environment, ...more } });
    const nodes = {
      serving: await start('serving'),
      forgetful: await start('forgetful', forgetful),
      writing: await start('writing'),
    };
    try {
      progress.tell(`${store}, ${keys} keys: measuring`);
      const found = await measurePoint(generators, { ...nodes, bare }, scene, keys, stores.pids, options);
      points.push({ store, keys, bindings: keys * pluginsPerKey, ...found });
    } finally {
      await Promise.all(Object.values(nodes).map((node: Node) => node.stop()));
    }
  }
  return points;
}

async function main(): Promise<void> {
  const options = readScaleOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(help);
    return;
  }
  const { stores, isJson, svg } = options;
  const points: Point[] = [];
  await withFolder(async (folder, defer) => {
    for (const store of stores) {
      const missing = missingStores(store);
      if (missing !== false) {
        console.error(`Nothing is measured on ${store}: ${missing}`);
        continue;
      }
      const found = await measureStore(store, options, folder, defer);
      progress.clear();
      if (!isJson) console.log(formatTable(store, found));
      points.push(...found);
    }
  });
  if (isJson) console.log(JSON.stringify({ machine: describeMachine(), points }, undefined, 2));
  if (svg !== undefined && points.length > 0) writeFileSync(svg, drawPoints(points, describeMachine()));
}

await main().catch(tellFailure);
