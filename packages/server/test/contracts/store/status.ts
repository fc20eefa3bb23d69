import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { NodeRecord } from '../../../src/db/node-records.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** Operators, the nodes that serve, and the last runs of maintenance. */
export function statusContract(backend: Backend): void {
  describe('operators', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('are the users with the grant, until it is revoked', async () => {
      const [ada, grace] = [await records().user({ name: 'Ada' }), await records().user({ name: 'Grace' })];
      assert.equal(await store.it.read.isOperator(ada.id), false);
      await store.it.write((tx) => tx.putOperator({ userId: ada.id, createdAtMs: someTimeMs }));
      await store.it.write((tx) => tx.putOperator({ userId: ada.id, createdAtMs: someTimeMs + 1 }));
      await store.it.write((tx) => tx.putOperator({ userId: grace.id, createdAtMs: someTimeMs }));
      assert.equal(await store.it.read.isOperator(ada.id), true);
      const both = [
        { userId: ada.id, createdAtMs: someTimeMs, userName: 'Ada' },
        { userId: grace.id, createdAtMs: someTimeMs, userName: 'Grace' },
      ];
      assert.deepEqual(
        await store.it.read.operators(),
        both.toSorted((a, b) => (a.userId < b.userId ? -1 : 1)),
      );
      await store.it.write((tx) => tx.deleteOperator(ada.id));
      await store.it.write((tx) => tx.deleteOperator(newId('user')));
      assert.equal(await store.it.read.isOperator(ada.id), false);
      assert.equal(await store.it.read.isOperator(grace.id), true);
    });

    it('are counted without suspended ones', async () => {
      const [ada, grace] = [await records().user(), await records().user()];
      await store.it.write(async (tx) => {
        for (const { userId } of await tx.operators()) await tx.deleteOperator(userId);
        for (const { id } of [ada, grace]) await tx.putOperator({ userId: id, createdAtMs: someTimeMs });
      });
      assert.equal(await store.it.read.hasOtherOperator(ada.id), true);
      await store.it.write((tx) => tx.setSuspended(grace.id, someTimeMs));
      assert.equal(await store.it.read.hasOtherOperator(ada.id), false);
      assert.equal(await store.it.read.hasOtherOperator(grace.id), true);
      assert.deepEqual(await store.it.read.user(grace.id), { ...grace, suspendedAtMs: someTimeMs });
      await store.it.write((tx) => tx.setSuspended(grace.id, null));
      assert.equal(await store.it.read.hasOtherOperator(ada.id), true);
    });

    it('lose the grant when their account is deleted', async () => {
      const { id } = await records().user({ name: 'Gone' });
      await store.it.write((tx) => tx.putOperator({ userId: id, createdAtMs: someTimeMs }));
      await store.it.write((tx) => tx.eraseUser(id, { name: 'Deleted', deletedAtMs: someTimeMs }));
      assert.equal(await store.it.read.isOperator(id), false);
    });
  });

  describe('nodes', () => {
    const store = opened(backend, backend.openStore);
    const node = (fields: Partial<NodeRecord> = {}): NodeRecord => ({
      id: newId('process'),
      node: 'läden-1',
      pid: 4_194_304,
      version: '0.1.0',
      startedAtMs: someTimeMs,
      ...fields,
    });
    const put = (one: NodeRecord) => store.it.write((tx) => tx.putNode(one));

    it('are listed with the time of their last heartbeat, by the clock of the database', async () => {
      const pair: [NodeRecord, NodeRecord] = [node(), node({ node: 'b' })];
      const [first, second] = pair.sort((one, other) => (one.id < other.id ? -1 : 1)); // as they are listed
      const beforeMs = Date.now();
      await put(first);
      await put(second);
      await put(first);
      const seen = await store.it.read.nodes();
      assert.deepEqual(
        seen.map(({ lastSeenAtMs, silentMs, ...rest }) => rest),
        [first, second],
      );
      for (const { lastSeenAtMs, silentMs } of seen) {
        assert.ok(lastSeenAtMs >= beforeMs - 1000 && lastSeenAtMs <= Date.now(), String(lastSeenAtMs));
        assert.ok(silentMs >= 0 && silentMs <= Date.now() - beforeMs + 1000, String(silentMs));
      }
      await store.it.write((tx) => tx.deleteNode(first.id));
      await store.it.write((tx) => tx.deleteSilentNodes(60_000));
      assert.deepEqual(
        (await store.it.read.nodes()).map(({ id }) => id),
        [second.id],
      );
      await store.it.write((tx) => tx.deleteSilentNodes(-2000));
      assert.deepEqual(await store.it.read.nodes(), []);
    });
  });

  describe('jobs', () => {
    const store = opened(backend, backend.openStore);

    it('store their last result', async () => {
      assert.deepEqual(await store.it.read.maintenanceRuns(), []);
      const collect = { kind: 'collect', endedAtMs: someTimeMs, outcome: { deleted: 3 } } as const;
      const maintenance = { kind: 'maintenance', endedAtMs: someTimeMs, outcome: {} } as const;
      await store.it.write((tx) => tx.putMaintenanceRun(collect));
      await store.it.write((tx) => tx.putMaintenanceRun(maintenance));
      const later = { ...collect, endedAtMs: someTimeMs + 1, outcome: { deleted: 0 } };
      await store.it.write((tx) => tx.putMaintenanceRun(later));
      const found = await store.it.read.maintenanceRuns();
      assert.deepEqual(
        found.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
        [later, maintenance],
      );
    });
  });
}
