import { execFile } from 'node:child_process';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Version } from '@tenon/protocol';
import { tenon } from '../helpers/server.ts';
import { type KnownLists, readContent, readList } from './readers.ts';
import type { Reader, Workload } from './workload.ts';

const recoveryTimeoutMs = 240_000;

/** Waits until all nodes have recovered by themselves. */
export async function untilReady({ nodes, client, report }: Workload): Promise<void> {
  const endsAt = performance.now() + recoveryTimeoutMs;
  for (const node of nodes) {
    for (;;) {
      const { status } = await client.send('GET', '/readyz', {}, node);
      if (status === 200) break;
      if (performance.now() > endsAt) return report.violation(`node ${node.number} did not become ready`);
      await sleep(100);
    }
  }
}

/** Checks on every node that all acknowledged writes are there, exactly once. */
export async function runFinalCheck(
  workload: Workload,
  visitor: Reader,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { fixture, nodes, report, bindings, versions, createRegister } = workload;
  const viewer = fixture.viewer.token;
  const reader: Reader = { token: viewer, isRevoked: createRegister(false), isMember: createRegister(true) };
  for (const node of nodes) {
    const known: KnownLists = new Map();
    for (const guestKey of bindings.keys()) {
      const list = await readList(workload, reader, guestKey, known, node);
      if (list === undefined) report.violation(`final check: no list of ${guestKey} from node ${node.number}`);
    }
    for (const token of workload.revokedTokens) await checkStatus(workload, '/api/v1/me', token, 401, node);
    const expected = visitor.isMember.latest ? 200 : 404;
    await checkStatus(workload, `/api/v1/apps/${fixture.appId}`, visitor.token, expected, node);
  }
  for (const [path, addresses] of versions) await checkVersions(workload, path, addresses);
  const distinct = [...new Set([...versions.values()].flat())];
  for (const [at, address] of distinct.entries()) {
    const isRight = await readContent(workload, reader, address, nodes[at % nodes.length]);
    if (!isRight) report.violation(`final check: no content ${address}`);
  }
  await verifyStore(workload, settings);
}

async function checkStatus(
  { client, report }: Workload,
  path: string,
  token: string,
  expected: number,
  node: Workload['nodes'][0],
) {
  const { status } = await client.send('GET', path, { token }, node);
  if (status !== expected) report.violation(`final check: ${path} on node ${node.number}: ${status}, not ${expected}`);
}

/** Retried publishes must not have created further versions. */
async function checkVersions({ client, fixture, report }: Workload, path: string, expected: readonly string[]) {
  const { body } = await client.send('GET', `${path}/versions`, { token: fixture.owner.token });
  const { objects } = JSON.parse(body.toString()) as { objects: Version[] };
  const actual = objects.toSorted((a, b) => a.number - b.number).map(({ contentAddress }) => contentAddress);
  if (actual.join() === expected.join()) return;
  report.violation(`final check: ${path} has ${actual.length} versions, not the ${expected.length} expected`);
}

/** `tenon admin verify` hashes every content and checks every reference. */
async function verifyStore({ report }: Workload, settings: Readonly<Record<string, string>>): Promise<void> {
  const args = [tenon, 'admin', 'verify', '--json'];
  const { promise, resolve } = Promise.withResolvers<void>();
  execFile(process.execPath, args, { env: { PATH: process.env.PATH, ...settings } }, (error, stdout, stderr) => {
    if (error !== null) report.violation(`tenon admin verify: ${error.message}\n${stdout}\n${stderr}`);
    else if ((JSON.parse(stdout) as { isWhole: boolean }).isWhole) report.count('tenon admin verify: passed');
    else report.violation(`tenon admin verify: ${stdout}`);
    resolve();
  });
  await promise;
}
