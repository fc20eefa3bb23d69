import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GuestId, newId, pluginId } from '@tenon/protocol';
import { createRandom } from '../../../../../test/helpers/random.ts';
import { type Store, UnavailableError } from '../../../src/db/store.ts';
import { purgeUsage } from '../../../src/usage/purge-usage.ts';
import { createUsageCounter, type UsageCell } from '../../../src/usage/usage-counter.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = someTimeMs - (someTimeMs % dayMs);
const everything = { fromMs: 0, toMs: startMs + 1000 * dayMs };

/** Usage is added exactly once, by any number of processes. */
export function usageContract(backend: Backend): void {
  describe('usage', () => {
    const store = opened(backend, backend.openStore);

    /** A guest with a bound plugin, and its host's token. */
    async function stage() {
      const records = createRecords(store.it);
      const { app, extensionPoint, guest, key, owner } = await records.stage();
      const version = await records.version(key('median'));
      await records.binding(version, guest.id);
      const plugin = pluginId(version.extensionPointId, version.userId, version.name);
      return { records, app, extensionPoint, guest, version, owner, plugin };
    }
    type Stage = Awaited<ReturnType<typeof stage>>;

    function counterOf(at: Store, options: { maxTallies?: number } = {}) {
      let nowMs = startMs;
      const counter = createUsageCounter({ store: at, clock: () => nowMs }, options);
      return {
        ...counter,
        at(ms: number) {
          nowMs = ms;
        },
      };
    }
    type Counter = ReturnType<typeof counterOf>;

    const listCell = (counter: Counter, { app, extensionPoint, guest }: Stage, guestKey = guest.guestKey) =>
      counter.cell(
        { tokenId: newId('token'), sessionId: null },
        { kind: 'list', appId: app.id, extensionPointId: extensionPoint.id, guestKey },
      ) as UsageCell;
    const contentCell = (counter: Counter, { owner, version }: Stage) =>
      counter.cell(
        { tokenId: newId('token'), sessionId: null },
        { kind: 'content', address: version.contentAddress, userId: owner.id, tokenAppId: null },
      ) as UsageCell;
    const count = (counter: Counter, cell: UsageCell, times: number, agent?: string) => {
      for (let time = 0; time < times; time++) counter.note(cell, { 'user-agent': agent });
    };
    const sums = async (id: string) => {
      const days = await store.it.read.usageDays(id, everything);
      const sum = (column: 'listRequests' | 'contentFetches') => days.reduce((total, day) => total + day[column], 0);
      return [sum('listRequests'), sum('contentFetches')];
    };

    it('is what a model counts, when several processes add at the same time', async () => {
      const staged = await stage();
      const stores = await Promise.all(Array.from({ length: 3 }, () => backend.openStore(store.location)));
      const random = createRandom(7);
      const byHour = new Map<number, number>();
      const byAgent = new Map<string, number>();
      try {
        const work = stores.map(async (at, process) => {
          const counter = counterOf(at);
          const cell = listCell(counter, staged);
          for (let round = 0; round < 8; round++) {
            const hour = random.below(48);
            counter.at(startMs + hour * hourMs + random.below(hourMs));
            const times = 1 + random.below(20);
            const agent = `host-${'ab'[process % 2]}/${round % 2}`;
            count(counter, cell, times, agent);
            byHour.set(hour, (byHour.get(hour) ?? 0) + times);
            byAgent.set(agent, (byAgent.get(agent) ?? 0) + times);
            await counter.flush();
          }
        });
        await Promise.all(work);
      } finally {
        await Promise.all(stores.map((one) => one.close()));
      }
      const total = [...byHour.values()].reduce((sum, one) => sum + one, 0);
      const { app, extensionPoint, guest, version, plugin } = staged;
      for (const id of [app.id, extensionPoint.id, guest.id, version.id, plugin]) {
        assert.deepEqual(await sums(id), [total, 0], id);
      }
      const found = new Map<number, number>();
      const agents = new Map<string, number>();
      for (const { dayMs: dayStart, detail, listRequests } of await store.it.read.usageDays(plugin, everything)) {
        let ofDay = 0;
        for (const [hour, [lists]] of Object.entries(detail.hours ?? {})) {
          found.set((dayStart - startMs) / hourMs + Number(hour), lists);
          ofDay += lists;
        }
        assert.equal(ofDay, listRequests);
        for (const [agent, times] of Object.entries(detail.agents ?? {})) {
          agents.set(agent, (agents.get(agent) ?? 0) + times);
        }
      }
      assert.deepEqual(found, new Map([...found.keys()].map((hour) => [hour, byHour.get(hour)])));
      assert.equal(found.size, byHour.size);
      assert.deepEqual(new Map([...agents].sort()), new Map([...byAgent].sort()));
    });

    it('is kept while the store fails, and written later, once', async () => {
      const staged = await stage();
      let mode: 'before' | 'after' | 'never' = 'before';
      const failing: Store = {
        ...store.it,
        async writeLocking(work) {
          if (mode === 'before') throw new UnavailableError('away');
          const result = await store.it.writeLocking(work);
          if (mode === 'after') throw new UnavailableError('the commit was not confirmed');
          return result;
        },
      };
      const counter = counterOf(failing);
      const [list, content] = [listCell(counter, staged), contentCell(counter, staged)];
      for (const next of ['before', 'after', 'before', 'after', 'after', 'before'] as const) {
        mode = next;
        count(counter, list, 2);
        count(counter, content, 1);
        await assert.rejects(counter.flush(), UnavailableError);
      }
      mode = 'never';
      count(counter, list, 1);
      await Promise.all([counter.flush(), counter.flush()]);
      await counter.flush();
      assert.deepEqual(await sums(staged.plugin), [13, 6]);
      assert.deepEqual(await sums(staged.app.id), [13, 6]);
    });

    it('takes bounded memory and rows, whatever is requested', async () => {
      const staged = await stage();
      const counter = counterOf(store.it, { maxTallies: 50 });
      for (let number = 0; number < 500; number++) {
        count(counter, listCell(counter, staged, `unknown-${number}`), 2, `a${'b'.repeat(number % 9)}/${number}`);
      }
      await counter.flush();
      assert.deepEqual(await sums(staged.app.id), [1000, 0]);
      assert.deepEqual(await sums(staged.extensionPoint.id), [1000, 0]);
      const [day] = await store.it.read.usageDays(staged.app.id, everything);
      assert.ok(Object.keys(day?.detail.agents ?? {}).length <= 21);
      assert.ok(JSON.stringify(day?.detail).length < 5000);
    });

    it('drops requests of what was deleted before they were written', async () => {
      const [kept, gone] = [await stage(), await stage()];
      const counter = counterOf(store.it);
      for (const one of [kept, gone]) {
        count(counter, listCell(counter, one), 3);
        count(counter, contentCell(counter, one), 2);
      }
      await store.it.write((tx) => tx.deleteApp(gone.app.id));
      await counter.flush();
      assert.deepEqual(await sums(kept.guest.id), [3, 0]);
      assert.deepEqual(await sums(kept.plugin), [3, 2]);
      assert.deepEqual(await store.it.read.usageSubjects([gone.app.id, gone.guest.id, gone.plugin]), []);
    });

    it('ends with its guest, and after the retention time; the last use stays', async () => {
      const staged = await stage();
      const counter = counterOf(store.it);
      const cell = listCell(counter, staged);
      for (const day of [0, 1, 2]) {
        counter.at(startMs + day * dayMs);
        count(counter, cell, 1);
      }
      await counter.flush();
      const days = async () => (await store.it.read.usageDays(staged.guest.id, everything)).map((day) => day.dayMs);
      assert.deepEqual(await days(), [startMs, startMs + dayMs, startMs + 2 * dayMs]);
      await purgeUsage({ store: store.it, clock: () => startMs + 4 * dayMs + 1 }, 2 * dayMs);
      assert.deepEqual(await days(), [startMs + 2 * dayMs]);
      await purgeUsage({ store: store.it, clock: () => startMs + 400 * dayMs }, 2 * dayMs);
      assert.deepEqual(await days(), []);
      const [subject] = await store.it.read.usageSubjects([staged.guest.id]);
      assert.equal(subject?.listedAtMs, startMs + 2 * dayMs);
      await store.it.write((tx) => tx.deleteGuest(staged.guest.id as GuestId));
      assert.deepEqual(await store.it.read.usageSubjects([staged.guest.id]), []);
    });
  });
}
