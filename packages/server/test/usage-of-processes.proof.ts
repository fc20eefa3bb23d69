import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { UsageReport } from '@tenon/protocol';
import { noPostgres, startPostgres } from './helpers/postgres.ts';
import { killAll, openConnection, type ServedByWorkers, serveByWorkers } from './helpers/workers.ts';

interface Counted {
  lists: number;
  contents: number;
}

/** Sends requests over many connections, which the processes get in turn. */
async function use(served: ServedByWorkers, counted: Counted): Promise<void> {
  const { values } = served;
  const list = `/api/v1/extension-points/${values.TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(values.TENON_GUEST_KEY ?? '')}`;
  const connections = Array.from({ length: 9 }, () => openConnection(served.url, values.TENON_TOKEN));
  const work = connections.map(async (connection, number) => {
    for (let time = 0; time < 20 + number; time++) {
      const { status, body } = await connection.ask(list);
      assert.equal(status, 200);
      counted.lists++;
      const [binding] = Object.values(JSON.parse(body) as Record<string, { contentAddress: string }>);
      if (binding === undefined || time % 5 !== 0) continue;
      assert.equal((await connection.ask(`/api/v1/c/${binding.contentAddress}`)).status, 200);
      counted.contents++;
    }
    connection.close();
  });
  await Promise.all(work);
}

async function stop(served: ServedByWorkers): Promise<void> {
  served.child.kill('SIGTERM');
  assert.deepEqual(await served.gone, { code: 0, signal: null });
}

async function reportOf(served: ServedByWorkers): Promise<UsageReport> {
  const { values } = served;
  const url = `${served.url}/api/v1/extension-points/${values.TENON_EXTENSION_POINT_ID}/usage?days=2`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${values.TENON_TOKEN}` } });
  assert.equal(response.status, 200);
  return (await response.json()) as UsageReport;
}

describe('usage', () => {
  it('is written by every process at an orderly shutdown, and lost at most since the last write by kill -9', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-usage-'));
    const counted = { lists: 0, contents: 0 };
    let served = await serveByWorkers(folder, 3);
    try {
      await use(served, counted);
      await stop(served);
      served = await serveByWorkers(folder, 3);
      const { totals } = await reportOf(served);
      assert.deepEqual([totals.listRequests, totals.contentFetches], [counted.lists, counted.contents]);
      assert.equal(totals.tokens, 1);
      await use(served, { lists: 0, contents: 0 });
      killAll(served);
      await served.gone;
      served = await serveByWorkers(folder, 3);
      assert.deepEqual((await reportOf(served)).totals, totals);
    } finally {
      killAll(served);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is the sum of all nodes on PostgreSQL', { skip: noPostgres }, async () => {
    const postgres = await startPostgres();
    const folder = await mkdtemp(join(tmpdir(), 'tenon-usage-')); // both nodes have the same contents
    const environment = { TENON_DATABASE_URL: (await postgres.createDatabase()).url };
    const counted = { lists: 0, contents: 0 };
    const nodes: ServedByWorkers[] = [];
    try {
      for (let node = 0; node < 2; node++) nodes.push(await serveByWorkers(folder, 2, environment));
      await Promise.all(nodes.map((node) => use(node, counted)));
      await Promise.all(nodes.map(stop));
      const last = await serveByWorkers(folder, 2, environment);
      nodes.push(last);
      const { totals } = await reportOf(last);
      assert.deepEqual([totals.listRequests, totals.contentFetches], [counted.lists, counted.contents]);
    } finally {
      for (const node of nodes) killAll(node);
      await rm(folder, { recursive: true, force: true });
      postgres.stop();
    }
  });
});
