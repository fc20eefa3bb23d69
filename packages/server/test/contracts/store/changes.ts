import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AppId, newId } from '@tenon/protocol';
import { beforeAllChanges } from '../../../src/db/change-records.ts';
import { createRecords, putBinding, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

const fields = { mark: 'aa', atMs: someTimeMs, keep: 100 };

/** News: numbered without a gap, kept as long as is wanted, and which lists a change concerns. */
export function newsContract(backend: Backend): void {
  describe('news', () => {
    const store = opened(backend, backend.openStore);
    const list = (guestKey: string | null = 'k') => ({ extensionPointId: newId('extensionPoint'), guestKey });
    const headOf = async (appId: AppId) => (await store.it.read.changeHeads([appId])).get(appId);

    it('is numbered from 1 in each application, and returned as it was inserted', async () => {
      const records = createRecords(store.it);
      const [one, other] = [await records.app(), await records.app()];
      assert.deepEqual(await headOf(one.id), beforeAllChanges);
      const plugin = { extensionPointId: newId('extensionPoint'), userId: newId('user'), pluginName: 'median' };
      const lists = [list('customers/globex'), list(null), list('👩‍🚀 "quoted"')];
      const ofList = { userId: null, pluginName: null };
      await store.it.write((tx) => tx.insertChanges(one.id, lists.slice(0, 2), fields));
      await store.it.write((tx) => tx.insertChanges(other.id, [list()], { ...fields, mark: 'bb' }));
      await store.it.write((tx) =>
        tx.insertChanges(one.id, [...lists.slice(2), plugin], { ...fields, mark: 'cc', atMs: someTimeMs + 7 }),
      );

      assert.deepEqual(await store.it.read.changes(one.id, 0, 10), [
        { appId: one.id, serial: 1, mark: 'aa', atMs: someTimeMs, ...ofList, ...lists[0] },
        { appId: one.id, serial: 2, mark: 'aa', atMs: someTimeMs, ...ofList, ...lists[1] },
        { appId: one.id, serial: 3, mark: 'cc', atMs: someTimeMs + 7, ...ofList, ...lists[2] },
        { appId: one.id, serial: 4, mark: 'cc', atMs: someTimeMs + 7, guestKey: null, ...plugin },
      ]);
      const part = await store.it.read.changes(one.id, 1, 1);
      assert.deepEqual(
        part.map(({ serial }) => serial),
        [2],
      );
      assert.deepEqual(
        await store.it.read.changeHeads([one.id, other.id]),
        new Map([
          [one.id, { serial: 4, mark: 'cc' }],
          [other.id, { serial: 1, mark: 'bb' }],
        ]),
      );
    });

    it('has no gap after a failed transaction', async () => {
      const { id } = await createRecords(store.it).app();
      await assert.rejects(
        store.it.write(async (tx) => {
          await tx.insertChanges(id, [list()], fields);
          throw new Error('no');
        }),
        /no/,
      );
      assert.deepEqual(await headOf(id), beforeAllChanges);
      await store.it.write((tx) => tx.insertChanges(id, [list()], fields));
      assert.deepEqual(await headOf(id), { serial: 1, mark: 'aa' });
    });

    it('keeps the newest events of an application, however many are inserted at once', async () => {
      const { id } = await createRecords(store.it).app();
      const add = (count: number) =>
        store.it.write((tx) =>
          tx.insertChanges(
            id,
            Array.from({ length: count }, () => list()),
            { ...fields, keep: 5 },
          ),
        );
      const kept = async () => (await store.it.read.changes(id, 0, 1000)).map(({ serial }) => serial);
      await add(4);
      assert.deepEqual(await kept(), [1, 2, 3, 4]);
      await add(3);
      assert.deepEqual(await kept(), [3, 4, 5, 6, 7]);
      await add(250);
      assert.deepEqual(await kept(), [253, 254, 255, 256, 257]);
    });

    it('loses its oldest events, and continues its numbers', async () => {
      const records = createRecords(store.it);
      const [one, other] = [await records.app(), await records.app()];
      // The second was emitted while the clock was wrong.
      for (const atMs of [10, 500, 20, 30]) {
        await store.it.write((tx) => tx.insertChanges(one.id, [list()], { ...fields, atMs }));
      }
      await store.it.write((tx) => tx.insertChanges(other.id, [list()], { ...fields, atMs: 10 }));
      let deleted = 0;
      for (let count = 1; count > 0; deleted += count)
        count = await store.it.write((tx) => tx.deleteChangesBefore(25, 1));
      assert.equal(deleted, 4);
      assert.deepEqual(
        (await store.it.read.changes(one.id, 0, 10)).map(({ serial }) => serial),
        [4],
      );
      assert.deepEqual(await store.it.read.changes(other.id, 0, 10), []);
      assert.deepEqual(await headOf(other.id), { serial: 1, mark: 'aa' });
    });

    it('goes with its application, and stays when an extension point goes', async () => {
      const records = createRecords(store.it);
      const app = await records.app();
      const point = await records.extensionPoint(app);
      await store.it.write((tx) => tx.insertChanges(app.id, [{ extensionPointId: point.id, guestKey: 'k' }], fields));
      await store.it.write((tx) => tx.deleteExtensionPoint(point.id));
      assert.equal((await store.it.read.changes(app.id, 0, 10)).length, 1);
      await store.it.write((tx) => tx.deleteApp(app.id));
      assert.deepEqual(await store.it.read.changes(app.id, 0, 10), []);
      assert.deepEqual(await headOf(app.id), beforeAllChanges);
    });

    it('boundLists() returns each list once in which a selected binding binds a version', async () => {
      const records = createRecords(store.it);
      const [ada, bob] = [await records.user(), await records.user()];
      const app = await records.app();
      const [point, otherPoint] = [await records.extensionPoint(app), await records.extensionPoint(app)];
      const [one, two] = [await records.guest(app, 'one'), await records.guest(app, 'two')];
      for (const guest of [one, two]) for (const user of [ada, bob]) await records.hold(guest, user);
      const publish = async (extensionPointId: typeof point.id, userId: typeof ada.id, name: string) =>
        records.version({ extensionPointId, userId, name });
      const [a, b] = [await publish(point.id, ada.id, 'a'), await publish(point.id, ada.id, 'b')];
      const c = await publish(otherPoint.id, bob.id, 'c');
      for (const version of [a, b]) await records.binding(version, one.id);
      await records.binding(a, two.id);
      await records.binding(c, two.id);
      // A claim that binds nothing is in no list.
      const idle = { extensionPointId: otherPoint.id, userId: ada.id, name: 'idle' };
      await records.version(idle);
      await store.it.write((tx) => putBinding(tx, { ...idle, guestId: one.id, versionId: null, updatedAtMs: 1 }));

      const listed = async (of: Parameters<typeof store.it.read.boundLists>[0]) =>
        (await store.it.read.boundLists(of))
          .map(({ appId, extensionPointId, guestKey }) => {
            assert.equal(appId, app.id);
            return `${extensionPointId === point.id ? 'point' : 'other'} ${guestKey}`;
          })
          .sort();
      assert.deepEqual(await listed({ guestIds: [one.id] }), ['point one']);
      assert.deepEqual(await listed({ guestIds: [two.id] }), ['other two', 'point two']);
      assert.deepEqual(await listed({ guestIds: [two.id], userId: bob.id }), ['other two']);
      assert.deepEqual(await listed({ userId: ada.id }), ['point one', 'point two']);
      assert.deepEqual(await listed({ extensionPointId: point.id, userId: ada.id, name: 'a' }), [
        'point one',
        'point two',
      ]);
      assert.deepEqual(await listed({ extensionPointId: point.id, guestIds: [two.id], name: 'b' }), []);
      assert.deepEqual(await listed({ extensionPointId: otherPoint.id, guestIds: [one.id], name: 'idle' }), []);
    });
  });
}
