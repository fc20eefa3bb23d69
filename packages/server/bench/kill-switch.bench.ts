/**
 * How long after a block hosts still have the plugin: from the request of the block, and from its response, until the list without the
 * plugin has arrived at each host that follows the change feed. The hosts are connected to other nodes than the one that blocks, where
 * there are several. Set-ups take turns.
 *
 *     npm run bench -- packages/server/bench/kill-switch.bench.ts --help
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { raisedQuotas } from '../../../test/helpers/raised-quotas.ts';
import { loadConfig } from '../src/index.ts';
import { caller } from './support/caller.ts';
import { moduleOfSize } from './support/module-of-size.ts';
import { type Node, startNode } from './support/nodes.ts';
import { describeMachine } from './support/report.ts';
import { createProgress, type Defer, withFolder } from './support/run.ts';
import { makeUser } from './support/stage.ts';
import { missingStores, type StoreName, startStores } from './support/stores.ts';
import { type HostsOrder, type HostsQuestion, type HostsReport, machineMs } from './support/streaming-hosts.ts';

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '200' },
    guests: { type: 'string', default: '20' },
    blocks: { type: 'string', default: '200' },
    store: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const help = `How long after a block hosts still have the plugin.

  --hosts <n>    hosts with a stream each; 200 without it
  --guests <n>   guest keys that bind the plugin, which hosts share; 20 without it
  --blocks <n>   blocks on each set-up; 200 without it
  --store <s>    embedded or postgres alone
`;

const rounds = 4;

/** Blocks that don't count. */
const warmUps = 10;

/** A block begins at a random time after the hosts are quiet, because processes poll for each other's commits. */
const maxPauseMs = 150;

const environment = {
  TENON_RATES: 'writes-per-second=1000000,write-burst=1000000',
  TENON_QUOTAS: raisedQuotas,
  TENON_LIMITS: 'streams-per-account=4096',
};

const plugin = 'plugin';

interface SetUp {
  readonly name: string;
  readonly store: StoreName;
  readonly nodes: number;
}

const setUps: readonly SetUp[] = [
  { name: 'embedded, 1 process', store: 'embedded', nodes: 1 },
  { name: 'embedded, 3 processes', store: 'embedded', nodes: 3 },
  { name: 'PostgreSQL, S3, 1 node', store: 'postgres', nodes: 1 },
  { name: 'PostgreSQL, S3, 3 nodes', store: 'postgres', nodes: 3 },
];

/** Milliseconds of all blocks. */
interface Times {
  readonly response: number[];
  readonly fromRequest: number[];
  readonly fromResponse: number[];
}

interface Contender extends SetUp {
  readonly times: Times;
  /** Blocks the plugin, waits for all hosts, unblocks it, and waits again. */
  block(isCounted: boolean): Promise<void>;
}

async function startHosts(order: HostsOrder, defer: Defer): Promise<(isBound: boolean) => Promise<HostsReport>> {
  const child: ChildProcess = fork(new URL('./support/streaming-hosts.ts', import.meta.url));
  defer(() => child.disconnect());
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('The hosts ended')));
  failed.catch(() => {});
  child.send(order);
  return async (isBound) => {
    const question: HostsQuestion = { isBound };
    const reported = once(child, 'message') as Promise<[HostsReport]>;
    child.send(question);
    return (await Promise.race([reported, failed]))[0];
  };
}

async function start(setUp: SetUp, folder: string, defer: Defer): Promise<Contender> {
  const stores = await startStores(setUp.store);
  defer(() => stores.stop());
  const dataDir = join(folder, 'data');
  const all = { ...environment, ...(await stores.reserve()).environment };
  const { id: userId, token } = await makeUser(loadConfig({ dataDir }, all));
  const nodes: Node[] = [];
  for (let at = 0; at < setUp.nodes; at++) {
    const own = join(folder, `node-${at}`);
    const node = await startNode({ folder: own, environment: all, ...(setUp.store === 'embedded' && { dataDir }) });
    defer(() => node.stop());
    nodes.push(node);
  }
  const call = caller(nodes[0]?.port ?? 0, token);
  const { id: appId } = (await call('POST', '/apps', { name: 'bench' })) as { id: string };
  const made = await call('POST', `/apps/${appId}/extension-points`, { name: 'bench' });
  const { id: extensionPointId } = made as { id: string };
  const guestKeys = Array.from({ length: Number(values.guests) }, (_, at) => `customers/${at}`);
  for (const guestKey of guestKeys) {
    const invitation = { deliveryMethod: 'link', guestKey };
    const { link } = (await call('POST', `/apps/${appId}/guests`, invitation)) as { link: string };
    await call('POST', '/invitations/accept', { code: new URL(link).searchParams.get('code') });
  }
  const path = `/artifacts/${extensionPointId}/plugin/${userId}/${plugin}`;
  await call('PUT', path, moduleOfSize(1024));
  const others = nodes.length === 1 ? nodes : nodes.slice(1);
  const hosts = Array.from({ length: Number(values.hosts) }, (_, at) => ({
    port: others[at % others.length]?.port ?? 0,
    guestKey: guestKeys[at % guestKeys.length] ?? '',
  }));
  const untilAll = await startHosts({ hosts, extensionPointId, token, plugin }, defer);
  await untilAll(true);
  const times: Times = { response: [], fromRequest: [], fromResponse: [] };
  return {
    ...setUp,
    times,
    async block(isCounted) {
      await sleep(Math.random() * maxPauseMs);
      const arrived = untilAll(false);
      arrived.catch(() => {}); // the hosts may fail during the call
      const sentMs = machineMs();
      await call('PUT', `${path}/block`, { reason: 'bench' });
      const answeredMs = machineMs();
      const arrivals = await arrived;
      const isBoundAgain = untilAll(true);
      isBoundAgain.catch(() => {});
      await call('DELETE', `${path}/block`);
      await isBoundAgain;
      if (!isCounted) return;
      times.response.push(answeredMs - sentMs);
      for (const atMs of arrivals) {
        times.fromRequest.push(atMs - sentMs);
        times.fromResponse.push(atMs - answeredMs);
      }
    },
  };
}

function print({ name, times }: Contender, base: Contender): void {
  console.log(name);
  for (const [title, key] of [
    ['response', 'response'],
    ['the host has the list, after the request', 'fromRequest'],
    ['the host has the list, after the response', 'fromResponse'],
  ] as const) {
    const [own, first] = [times[key], base.times[key]].map((all) => all.toSorted((a, b) => a - b));
    const at = (sorted: readonly number[] = [], share: number) =>
      sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
    const cells = [0.5, 0.95, 0.99, 1].map((share) => at(own, share).toFixed(1).padStart(9)).join('');
    const ratio = (at(own, 0.99) / at(first, 0.99)).toFixed(2).padStart(9);
    console.log(`  ${title.padEnd(46)}${cells}${ratio}`);
  }
}

async function measure(): Promise<void> {
  const progress = createProgress();
  await withFolder(async (folder, defer) => {
    const contenders: Contender[] = [];
    for (const [at, setUp] of setUps.entries()) {
      if (values.store !== undefined && values.store !== setUp.store) continue;
      const missing = missingStores(setUp.store);
      if (missing !== false) console.error(`Not measured: ${setUp.name}: ${missing}`);
      else {
        progress.tell(`starting: ${setUp.name}`);
        contenders.push(await start(setUp, join(folder, String(at)), defer));
      }
    }
    for (const contender of contenders) for (let at = 0; at < warmUps; at++) await contender.block(false);
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) {
        progress.tell(`round ${round + 1} of ${rounds}: ${contender.name}`);
        for (let at = 0; at < Number(values.blocks) / rounds; at++) await contender.block(true);
      }
    }
    progress.clear();
    console.log(`${describeMachine()}, load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
    console.log(`${values.hosts} hosts, ${values.guests} guest keys, ${values.blocks} blocks. Milliseconds.`);
    const titles = ['p50', 'p95', 'p99', 'max', 'p99 ratio'].map((title) => title.padStart(9)).join('');
    console.log(''.padEnd(48) + titles);
    const [first] = contenders;
    for (const contender of contenders) print(contender, first ?? contender);
  });
}

if (values.help) console.log(help);
else await measure();
