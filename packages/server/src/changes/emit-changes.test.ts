import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { AppId, GuestId } from '@tenon/protocol';
import { createRecords, putBinding, someTimeMs } from '../../test/helpers/records.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import { openSqliteStore } from '../db/sqlite/store.ts';
import type { Store, Transaction } from '../db/store.ts';
import { statements } from '../queries.ts';
import { withEffects } from '../with-effects.ts';

describe('emitChanges()', () => {
  let folder: string;
  let bare: Store;
  let store: Store;
  const reported: AppId[][] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-news-'));
    bare = await openSqliteStore(statements, { file: join(folder, 'tenon.db') });
    const random = (length: number) => new Uint8Array(length).fill(0xab);
    const onEmitted = (appIds: readonly AppId[]) => void reported.push([...appIds]);
    store = withEffects(bare, {
      requiresAudit: false,
      changes: { clock: () => someTimeMs, random, keep: 100, onEmitted },
    });
  });
  after(async () => {
    await bare.close();
    await rm(folder, { recursive: true });
  });

  /** Two plugins of one publisher, bound under a first guest; the first one under a second guest too. */
  async function stage() {
    const records = createRecords(bare);
    const { app, extensionPoint, guest: first, publisher, key } = await records.stage();
    const second = await records.guest(app);
    await records.hold(second, publisher);
    const [one, two] = [await records.version(key('one')), await records.version(key('two'))];
    for (const version of [one, two]) await records.binding(version, first.id);
    await records.binding(one, second.id);
    const lists = { [first.guestKey]: 'first', [second.guestKey]: 'second' };
    return {
      app,
      extensionPoint,
      first,
      second,
      publisher,
      one,
      two,
      key,
      records,
      /** The lists that a transaction tells of. */
      async reportedOf(work: (tx: Transaction) => Promise<unknown>): Promise<string[]> {
        const head = (await bare.read.changeHeads([app.id])).get(app.id);
        await store.write(work);
        const changes = await bare.read.changes(app.id, head?.serial ?? 0, 100);
        for (const { extensionPointId, mark, atMs } of changes) {
          assert.deepEqual([extensionPointId, mark, atMs], [extensionPoint.id, 'ab'.repeat(8), someTimeMs]);
        }
        return changes
          .map(({ guestKey, pluginName }) => pluginName ?? (guestKey === null ? 'all' : (lists[guestKey] ?? guestKey)))
          .sort();
      },
    };
  }
  const bind = (tx: Transaction, key: PluginKey, guestId: GuestId, version: VersionRecord | null) => {
    const { extensionPointId, userId, name } = key;
    return putBinding(tx, { extensionPointId, userId, name, guestId, versionId: version?.id ?? null, updatedAtMs: 9 });
  };

  it('emits one event for a list in which bindings are added, moved or removed', async () => {
    const { reportedOf, first, second, one, two, key, records } = await stage();
    const three = await records.version(key('three'));
    assert.deepEqual(await reportedOf((tx) => bind(tx, three, second.id, three)), ['second']);
    const both = async (tx: Transaction) => {
      for (const version of [one, two]) await bind(tx, version, first.id, null);
      await bind(tx, one, second.id, null);
    };
    assert.deepEqual(await reportedOf(both), ['first', 'second']);
  });

  it('emits nothing for a binding that has no version before and after', async () => {
    const { reportedOf, first, one, key, records } = await stage();
    const waiting = await records.version(key('waiting'));
    assert.deepEqual(await reportedOf((tx) => bind(tx, waiting, first.id, null)), []);
    assert.deepEqual(await reportedOf((tx) => bind(tx, waiting, first.id, null)), []);
    assert.deepEqual(await reportedOf((tx) => tx.pinVersion({ ...one, guestId: first.id }, one.id)), []);
    assert.deepEqual(await reportedOf((tx) => tx.deletePlugin(waiting)), []);
  });

  it('emits events for the lists that lose a deleted plugin', async () => {
    const plugin = await stage();
    assert.deepEqual(await plugin.reportedOf((tx) => tx.deletePlugin(plugin.one)), ['first', 'second']);
    const guest = await stage();
    assert.deepEqual(await guest.reportedOf((tx) => tx.deleteGuest(guest.first.id)), ['first']);
    const held = await stage();
    assert.deepEqual(await held.reportedOf((tx) => tx.deleteGuestUser([held.second.id], held.publisher.id)), [
      'second',
    ]);
    const user = await stage();
    const erase = (tx: Transaction) => tx.eraseUser(user.publisher.id, { name: 'gone', deletedAtMs: 1 });
    assert.deepEqual(await user.reportedOf(erase), ['first', 'second']);
  });

  it('emits one event for a deleted extension point, and none for its lists', async () => {
    const { reportedOf, one, first, extensionPoint } = await stage();
    const remove = async (tx: Transaction) => {
      await bind(tx, one, first.id, null);
      await tx.deleteExtensionPoint(extensionPoint.id);
    };
    assert.deepEqual(await reportedOf(remove), ['all']);
  });

  it('emits an event for a plugin with other attestations, unless its extension point is deleted', async () => {
    const { reportedOf, one, extensionPoint } = await stage();
    const attach = (tx: Transaction) => tx.setProvenance(one, 'verified', 1);
    assert.deepEqual(await reportedOf(attach), ['one']);
    const both = async (tx: Transaction) => {
      await attach(tx);
      await tx.deleteExtensionPoint(extensionPoint.id);
    };
    assert.deepEqual(await reportedOf(both), ['all']);
  });

  it('emits nothing for a deleted application', async () => {
    const { reportedOf, one, first, app } = await stage();
    const remove = async (tx: Transaction) => {
      await bind(tx, one, first.id, null);
      await tx.deleteApp(app.id);
    };
    assert.deepEqual(await reportedOf(remove), []);
  });

  it('stores and emits nothing for a failed transaction', async () => {
    const { app, one, first } = await stage();
    reported.length = 0;
    const fail = async (tx: Transaction) => {
      await bind(tx, one, first.id, null);
      throw new Error('no');
    };
    await assert.rejects(store.write(fail), /no/);
    assert.deepEqual(await bare.read.changes(app.id, 0, 9), []);
    assert.deepEqual(reported, []);
  });

  it('reports the applications of the events, and returns the result of the work', async () => {
    const [one, other] = [await stage(), await stage()];
    reported.length = 0;
    const answer = await store.write(async (tx) => {
      for (const { one: version, first } of [one, other]) await bind(tx, version, first.id, null);
      return 'done';
    });
    assert.equal(answer, 'done');
    assert.deepEqual(reported, [[one.app.id, other.app.id].sort()]);
    await store.write(async () => {});
    assert.equal(reported.length, 1);
  });
});
