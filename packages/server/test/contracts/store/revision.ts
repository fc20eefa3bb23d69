import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../src/domain/ports.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { runInChild } from './child.ts';

/** Others' commits are known soon, at the latest after a second; a machine that has much to do gets more. */
async function untilAnother(store: Store, revision: number): Promise<void> {
  for (let waits = 0; store.revision() === revision; waits++) {
    assert.ok(waits < 1000, 'the commit never became known');
    await sleep(10);
  }
}

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
        await untilAnother(store.it, here);
        assert.equal((await store.it.read.app(app.id))?.name, 'other');
      } finally {
        await other.close();
      }
    });

    it('is another one after a commit by another process', async () => {
      const app = await records().app();
      const before = store.it.revision();
      await runInChild(backend, store.location, 'rename', { appId: app.id, name: 'from a child' });
      await untilAnother(store.it, before);
      assert.equal((await store.it.read.app(app.id))?.name, 'from a child');
    });
  });
}
