import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Version } from '@tenon/protocol';
import { tenon } from '../helpers/server.ts';
import { askContent, askList, type KnownLists } from './hosts.ts';
import type { Host, World } from './world.ts';

/** Waits until all nodes are ready again, which they become by themselves. */
export async function untilReady({ nodes, balancer, notes }: World): Promise<void> {
  const endsAt = performance.now() + 240_000;
  for (const node of nodes) {
    for (;;) {
      const { status } = await balancer.ask('GET', '/readyz', {}, node);
      if (status === 200) break;
      if (performance.now() > endsAt) return notes.wrong(`node ${node.number} never became ready again`);
      await sleep(100);
    }
  }
}

/** Holds what is there, when all is quiet again, against all that was acknowledged: on every node. */
export async function reckon(
  world: World,
  visitor: Host,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const { stage, nodes, notes, bound, versions, register } = world;
  const host: Host = { token: stage.viewer.token, isRevoked: register(false), isMember: register(true) };
  for (const node of nodes) {
    const seen: KnownLists = new Map();
    for (const guestKey of bound.keys()) {
      const list = await askList(world, host, guestKey, seen, node);
      if (list === undefined) notes.wrong(`the list of ${guestKey} can't be had of node ${node.number}`);
    }
    for (const token of world.revoked) await demandStatus(world, '/api/v1/me', token, 401, node);
    await demandStatus(world, `/api/v1/apps/${stage.appId}`, visitor.token, visitor.isMember.last ? 200 : 404, node);
  }
  for (const [path, addresses] of versions) await demandVersions(world, path, addresses);
  const distinct = [...new Set([...versions.values()].flat())];
  for (const [at, address] of distinct.entries()) {
    const whole = await askContent(world, host, address, nodes[at % nodes.length]);
    if (!whole) notes.wrong(`${address} can't be had`);
  }
  await verifyData(world, environment);
}

async function demandStatus(
  { balancer, notes }: World,
  path: string,
  token: string,
  wanted: number,
  node: World['nodes'][0],
) {
  const { status } = await balancer.ask('GET', path, { token }, node);
  if (status !== wanted) notes.wrong(`${path} on node ${node.number} is answered ${status}, and not ${wanted}`);
}

/** All that were acknowledged are there, under their numbers, and no others: what was asked for again made none. */
async function demandVersions({ balancer, stage, notes }: World, path: string, addresses: readonly string[]) {
  const { body } = await balancer.ask('GET', `${path}/versions`, { token: stage.owner.token });
  const { objects } = JSON.parse(body.toString()) as { objects: Version[] };
  const found = objects.toSorted((a, b) => a.number - b.number).map(({ contentAddress }) => contentAddress);
  if (found.join() !== addresses.join()) notes.wrong(`${path} has ${found.length} versions, not ${addresses.length}`);
}

/** `tenon admin verify` hashes every plugin and looks at every reference. */
async function verifyData({ notes }: World, environment: Readonly<Record<string, string>>): Promise<void> {
  const dataDir = environment.TENON_DATA_DIR ?? join(tmpdir(), `tenon-storm-verify-${process.pid}`);
  const arguments_ = [tenon, 'admin', 'verify', '--json', '--data-dir', dataDir];
  const { promise, resolve } = Promise.withResolvers<void>();
  execFile(process.execPath, arguments_, { env: { PATH: process.env.PATH, ...environment } }, (error, out, log) => {
    if (error !== null) notes.wrong(`tenon admin verify: ${error.message}\n${out}\n${log}`);
    else
      notes.count(`tenon admin verify: ${(JSON.parse(out) as { isWhole: boolean }).isWhole ? 'whole' : 'not whole'}`);
    resolve();
  });
  await promise;
  if (environment.TENON_DATA_DIR === undefined) await rm(dataDir, { recursive: true, force: true });
}
