import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulationRunId } from '@tenon/protocol';
import type { SimulationRunRecord } from '../../../src/db/simulation-run-records.ts';
import { createRecords, simulationRunRecord, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** The queue of tests. */
export function simulationRunsContract(backend: Backend): void {
  describe('simulation runs', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const insert = async (fields: Partial<SimulationRunRecord> = {}): Promise<SimulationRunRecord> => {
      const { key, publisher } = await records().stage();
      const { id } = await records().version(key('tested'), { state: 'testing', verdict: null });
      const run = simulationRunRecord({ versionId: id, userId: publisher.id, ...fields });
      await store.it.write((tx) => tx.insertSimulationRun(run));
      return run;
    };
    const claim = (id: SimulationRunId, nowMs: number, untilMs = nowMs + 1000) =>
      store.it.write((tx) => tx.claimSimulationRun(id, { nowMs, untilMs }));
    const remove = (...runs: SimulationRunRecord[]) =>
      store.it.write(async (tx) => {
        for (const { id } of runs) await tx.deleteSimulationRun(id);
      });

    it('are claimed once at a time, and again when the lease has ended', async () => {
      const run = await insert({ dueAtMs: someTimeMs });
      assert.equal(await store.it.read.dueSimulationRun(someTimeMs - 1), undefined);
      const { id, userId } = run;
      assert.deepEqual(await store.it.read.dueSimulationRun(someTimeMs), { id, userId });
      assert.equal(await store.it.read.dueSimulationRun(someTimeMs, [userId]), undefined);
      const claimed = await claim(run.id, someTimeMs + 5);
      const running = { state: 'running', attempts: 1, startedAtMs: someTimeMs + 5, dueAtMs: someTimeMs + 1005 };
      assert.deepEqual(claimed, { ...run, ...running });
      assert.equal(await claim(run.id, someTimeMs + 1004), undefined);
      assert.equal(await store.it.read.dueSimulationRun(someTimeMs + 1004), undefined);
      assert.equal((await claim(run.id, someTimeMs + 1005))?.attempts, 2);
      await remove(run);
    });

    it('keep a claim while its lease is renewed, and not for a process that lost it', async () => {
      const run = await insert();
      const first = await claim(run.id, someTimeMs);
      assert.ok(first !== undefined);
      assert.equal(await store.it.write((tx) => tx.renewSimulationRun(first, someTimeMs + 2000)), true);
      assert.equal(await claim(run.id, someTimeMs + 1999), undefined);
      const second = await claim(run.id, someTimeMs + 2000);
      assert.equal(second?.attempts, 2);
      assert.equal(await store.it.write((tx) => tx.renewSimulationRun(first, someTimeMs + 9000)), false);
      await remove(run);
    });

    it('come to accounts in turn, and to one account in their order', async () => {
      const first = await insert();
      const [second, third] = [await insert({ userId: first.userId }), await insert({ userId: first.userId })];
      const other = await insert({ dueAtMs: someTimeMs + 1 });
      const order: SimulationRunId[] = [];
      for (let at = 10; ; at++) {
        const id = (await store.it.read.dueSimulationRun(someTimeMs + at))?.id;
        if (id === undefined) break;
        order.push(id);
        await claim(id, someTimeMs + at);
      }
      assert.deepEqual(order, [first.id, other.id, second.id, third.id]);
      await remove(first, second, third, other);
    });

    it('are one that is not done for each version, and keep a short history', async () => {
      const open = await insert();
      const more = () => insert({ versionId: open.versionId });
      await assert.rejects(more());
      assert.equal((await store.it.read.openSimulationRun(open.versionId))?.id, open.id);
      const ids = [open.id];
      for (let number = 0; number < 8; number++) {
        const last = ids.at(-1) ?? open.id;
        await store.it.write((tx) => tx.updateSimulationRun(last, { state: 'done', verdict: 'failed' }));
        ids.push((await more()).id);
      }
      const tested = await store.it.read.versionById(open.versionId);
      assert.ok(tested !== undefined);
      await store.it.write((tx) => tx.pruneSimulationRuns(tested, tested.number));
      const kept = await store.it.read.simulationRuns(open.versionId);
      assert.deepEqual(
        kept.map(({ id }) => id),
        ids.slice(-6).reverse(),
      );
      assert.equal(await store.it.read.simulationRun(open.id), undefined);
      await remove(...kept);
    });

    it('are summed up, keep any text of a report, and end with their version', async () => {
      const before = await store.it.read.simulationQueue();
      const reportsJson = JSON.stringify([{ detail: '\u0000\ud800 “日本語”' }]);
      const errored = await insert({ verdict: 'errored', detail: 'later', reportsJson, createdAtMs: 7 });
      const running = await insert();
      await claim(running.id, someTimeMs);
      assert.deepEqual(await store.it.read.simulationQueue(), {
        queued: before.queued + 1,
        running: before.running + 1,
        errored: before.errored + 1,
        oldestQueuedAtMs: 7,
      });
      assert.deepEqual(await store.it.read.simulationRun(errored.id), errored);
      const version = await store.it.read.versionById(errored.versionId);
      assert.ok(version !== undefined);
      await store.it.write((tx) => tx.putVerdict(version.id, 'errored'));
      assert.deepEqual(await store.it.read.version(version, 1), { ...version, verdict: 'errored' });
      assert.equal(await store.it.read.interfaceOf(version.id), null);
      await store.it.write((tx) => tx.putInterface(version.id, '{"a":1}'));
      assert.equal(await store.it.read.interfaceOf(version.id), '{"a":1}');
      await store.it.write((tx) => tx.deletePlugin(version));
      assert.equal(await store.it.read.simulationRun(errored.id), undefined);
      assert.deepEqual(await claim(errored.id, someTimeMs + 1), undefined);
    });
  });
}
