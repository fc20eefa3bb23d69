import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { ProcessRecord } from '../../../src/domain/status/ports.ts';
import { migrations } from '../../../src/store/kysely/migrations/all.ts';
import { addressOf, createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** Operators, the processes that serve, and what the store tells of itself. */
export function statusContract(backend: Backend): void {
  describe('operators', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('are those who were made it, until that is taken back', async () => {
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

    it('are none any more once their account is deleted', async () => {
      const { id } = await records().user({ name: 'Gone' });
      await store.it.write((tx) => tx.putOperator({ userId: id, createdAtMs: someTimeMs }));
      await store.it.write((tx) => tx.eraseUser(id, { name: 'Deleted', deletedAtMs: someTimeMs }));
      assert.equal(await store.it.read.isOperator(id), false);
    });
  });

  describe('processes', () => {
    const store = opened(backend, backend.openStore);
    const process = (fields: Partial<ProcessRecord> = {}): ProcessRecord => ({
      id: newId('process'),
      node: 'läden-1',
      pid: 4_194_304,
      version: '0.1.0',
      startedAtMs: someTimeMs,
      reportJson: '{"a":[1]}',
      ...fields,
    });
    const put = (one: ProcessRecord) => store.it.write((tx) => tx.putProcess(one));

    it('are told with when they were last heard of, by the clock of the database', async () => {
      const pair: [ProcessRecord, ProcessRecord] = [process(), process({ node: 'b' })];
      const [first, second] = pair.sort((one, other) => (one.id < other.id ? -1 : 1)); // as they are listed
      const beforeMs = Date.now();
      await put(first);
      await put(second);
      const seen = await store.it.read.processes();
      assert.deepEqual(
        seen.map(({ lastSeenAtMs, silentMs, ...rest }) => rest),
        [first, second],
      );
      for (const { lastSeenAtMs, silentMs } of seen) {
        assert.ok(lastSeenAtMs >= beforeMs - 1000 && lastSeenAtMs <= Date.now(), String(lastSeenAtMs));
        assert.ok(silentMs >= 0 && silentMs <= Date.now() - beforeMs + 1000, String(silentMs));
      }
      await put({ ...first, reportJson: '{}' });
      assert.deepEqual(
        (await store.it.read.processes()).map(({ reportJson }) => reportJson),
        ['{}', second.reportJson],
      );
      await store.it.write((tx) => tx.deleteProcess(first.id));
      await store.it.write((tx) => tx.deleteSilentProcesses(60_000));
      assert.deepEqual(
        (await store.it.read.processes()).map(({ id }) => id),
        [second.id],
      );
      await store.it.write((tx) => tx.deleteSilentProcesses(-2000));
      assert.deepEqual(await store.it.read.processes(), []);
    });
  });

  describe('chores', () => {
    const store = opened(backend, backend.openStore);

    it('are kept as they last ended', async () => {
      assert.deepEqual(await store.it.read.chores(), []);
      const collect = { kind: 'collect', endedAtMs: someTimeMs, outcome: { deleted: 3 } } as const;
      const verify = { kind: 'verify', endedAtMs: someTimeMs, outcome: {} } as const;
      await store.it.write((tx) => tx.putChore(collect));
      await store.it.write((tx) => tx.putChore(verify));
      const later = { ...collect, endedAtMs: someTimeMs + 1, outcome: { deleted: 0 } };
      await store.it.write((tx) => tx.putChore(later));
      const found = await store.it.read.chores();
      assert.deepEqual(
        found.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
        [later, verify],
      );
    });
  });

  describe('sizes()', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('counts what there is, without deleted accounts', async () => {
      const none = await store.it.sizes();
      assert.deepEqual(
        Object.values(none),
        Object.values(none).map(() => ({ value: 0, isEstimate: false })),
      );
      const { key, guest } = await records().stage();
      await records().binding(await records().version(key('one')), guest.id);
      await records().version(key('one'), { number: 2 });
      const gone = await records().user({ name: 'Gone' });
      const before = (await store.it.sizes()).accounts.value;
      await store.it.write((tx) => tx.eraseUser(gone.id, { name: 'Deleted', deletedAtMs: someTimeMs }));
      const hold = { size: 67_108_864, generation: 'a', leaseUntilMs: 0 };
      await store.it.write((tx) => tx.holdBlob({ address: addressOf('a'), ...hold }));
      await store.it.write((tx) => tx.holdBlob({ address: addressOf('b'), ...hold }));
      const { accounts, apps, extensionPoints, guests, plugins, versions, bindings, contents, contentBytes } =
        await store.it.sizes();
      assert.equal(accounts.value, before - 1);
      assert.ok(apps.value > 0 && extensionPoints.value > 0 && guests.value > 0);
      assert.deepEqual([plugins.value, versions.value, bindings.value], [1, 2, 1]);
      assert.deepEqual([contents.value, contentBytes.value], [2, 2 * hold.size]);
    });
  });

  describe('facts()', () => {
    const store = opened(backend, backend.openStore);

    it('tells the version of the database, its size and the number of its schema', async () => {
      const { version, bytes, schemaVersion } = await store.it.facts();
      assert.match(version, /^\d+\.\d+/);
      assert.ok(bytes > 10_000, String(bytes));
      assert.equal(schemaVersion, migrations.length);
    });
  });
}
