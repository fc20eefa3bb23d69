import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../../../test/helpers/until.ts';
import type { CacheTag } from '../../../src/cache/cache-tag.ts';
import type { Store } from '../../../src/db/store.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { runInChild } from './child.ts';

/** The number that tells whether what was read may still be used. */
export function revisionContract(backend: Backend): void {
  describe('revision()', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('stays the same while nothing is committed', async () => {
      const { extensionPoint, guest, app } = await records().stage();
      const revision = store.it.revision();
      await store.it.read.bindings(extensionPoint.id, guest.guestKey);
      await store.it.read.members(app.id, {});
      await store.it.ping();
      await assert.rejects(store.it.write(() => Promise.reject(new Error('nothing comes of it'))));
      await assert.rejects(
        store.it.write(async (tx) => {
          await tx.updateApp(app.id, { name: 'rolled back', updatedAtMs: someTimeMs });
          throw new Error('nothing comes of it');
        }),
      );
      assert.equal(store.it.revision(), revision);
    });

    it('is another one after every commit, and never one that was seen before', async () => {
      const app = await records().app();
      const seen = new Set([store.it.revision()]);
      for (let round = 1; round <= 20; round++) {
        await store.it.write((tx) => tx.updateApp(app.id, { name: `round ${round}`, updatedAtMs: someTimeMs + round }));
        seen.add(store.it.revision());
        assert.equal(seen.size, round + 1);
      }
    });

    it('stays the same inside a transaction until it is committed', async () => {
      const app = await records().app();
      const before = store.it.revision();
      await store.it.write(async (tx) => {
        await tx.updateApp(app.id, { name: 'soon', updatedAtMs: someTimeMs });
        assert.equal(store.it.revision(), before);
      });
      assert.notEqual(store.it.revision(), before);
    });

    it('is another one after a commit through another store on the same data', async () => {
      const other = await backend.openStore(store.location);
      try {
        const app = await records().app();
        const [here, there] = [store.it.revision(), other.revision()];
        await other.write((tx) => tx.updateApp(app.id, { name: 'other', updatedAtMs: someTimeMs }));
        assert.notEqual(other.revision(), there, 'at once where it was committed');
        await until(() => store.it.revision() !== here, { message: 'the commit did not become known' });
        assert.equal((await store.it.read.app(app.id))?.name, 'other');
      } finally {
        await other.close();
      }
    });

    it('is another one after a commit by another process', async () => {
      const app = await records().app();
      const before = store.it.revision();
      await runInChild(backend, store.location, 'rename', { appId: app.id, name: 'from a child' });
      await until(() => store.it.revision() !== before, { message: 'the commit did not become known' });
      assert.equal((await store.it.read.app(app.id))?.name, 'from a child');
    });
  });
}

/** The cache tags that commits have invalidated, as caches receive them. */
export function commitsContract(backend: Backend): void {
  describe('onCommitted()', () => {
    const store = opened(backend, backend.openStore);

    /**
     * Receives the tags that are invalidated from now on, in order. That anything may have been invalidated is reported besides
     * while a node doesn't hear of others' commits, which a busy machine brings about at any time.
     */
    function listen(to: Store): { readonly known: readonly (readonly CacheTag[])[]; readonly isLost: boolean } {
      to.revision(); // what there was so far
      const reported = { known: [] as (readonly CacheTag[])[], isLost: false };
      to.onCommitted((invalidated) => {
        if (invalidated === undefined) reported.isLost = true;
        else reported.known.push(invalidated);
      });
      return reported;
    }

    it('calls listeners for an own commit before the revision changes', async () => {
      const app = await createRecords(store.it).app();
      const reported = listen(store.it);
      const before = store.it.revision();
      await store.it.write(async (tx) => {
        await tx.updateApp(app.id, { name: 'one', updatedAtMs: someTimeMs });
        await tx.updateApp(app.id, { name: 'two', updatedAtMs: someTimeMs });
      });
      assert.notEqual(store.it.revision(), before);
      assert.ok(reported.known.length > 0);
      for (const invalidated of reported.known) assert.deepEqual(invalidated, [app.id]);
    });

    it('calls no listener after a rollback', async () => {
      const app = await createRecords(store.it).app();
      const reported = listen(store.it);
      const fail = store.it.write(async (tx) => {
        await tx.updateApp(app.id, { name: 'no', updatedAtMs: someTimeMs });
        throw new Error('no');
      });
      await assert.rejects(fail, /no/);
      store.it.revision();
      assert.deepEqual(reported.known, []);
    });

    it('calls listeners for commits of another store and another process, in order', async () => {
      const other = await backend.openStore(store.location);
      try {
        const app = await createRecords(store.it).app();
        const reported = listen(store.it);
        const keys = Array.from({ length: 5 }, (_, at) => `ext_${at} key`);
        for (const key of keys) {
          const [extensionPointId, guestKey] = key.split(' ') as [`ext_${string}`, string];
          const fields = { mark: 'aa', atMs: someTimeMs, keep: 100 };
          await other.write((tx) => tx.insertChanges(app.id, [{ extensionPointId, guestKey }], fields));
        }
        await runInChild(backend, store.location, 'rename', { appId: app.id, name: 'from a child' });
        for (let waits = 0; reported.known.at(-1)?.at(-1) !== app.id; waits++) {
          assert.ok(waits < 1000, 'it was never reported');
          await sleep(10);
          store.it.revision();
        }
        assert.deepEqual(reported.known.flat(), [...keys, app.id]);
      } finally {
        await other.close();
      }
    });

    it('invalidates everything, or all tags, after very many missed commits or a very large one', async () => {
      const other = await backend.openStore(store.location);
      try {
        const app = await createRecords(store.it).app();
        const reported = listen(store.it);
        const lists = Array.from({ length: 20_000 }, (_, at) => ({
          extensionPointId: 'ext_many' as const,
          guestKey: `${at} ${'k'.repeat(60)}`,
        }));
        const fields = { mark: 'aa', atMs: someTimeMs, keep: 10 };
        await other.write((tx) => tx.insertChanges(app.id, lists, fields));
        const isReported = () => reported.isLost || reported.known.flat().length === lists.length;
        for (let waits = 0; !isReported(); waits++) {
          assert.ok(waits < 1000, 'it was never reported');
          await sleep(10);
          store.it.revision();
        }
      } finally {
        await other.close();
      }
    });
  });
}
