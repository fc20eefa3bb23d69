import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../../src/domain/ports.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { runInChild } from './child.ts';
import { type JobArguments, type JobName, type JobResult, jobs } from './jobs.ts';

/** How often each of two writers does its job. */
const times = 40;

type RunJob = <J extends JobName>(job: J, args: JobArguments<J>) => Promise<JobResult<J>>;

/** Two writers at once lose nothing. */
export function concurrencyContract(backend: Backend): void {
  const runners: [string, (store: Store, location: string) => RunJob][] = [
    ['two writers in one process', (store) => (job, args) => runHere(store, job, args)],
    [
      'a writer in this process and one in another',
      (_, location) => (job, args) => runInChild(backend, location, job, args),
    ],
  ];
  for (const [name, secondWriter] of runners) {
    describe(name, () => {
      const store = opened(backend, backend.openStore);
      const records = () => createRecords(store.it);
      /** Has both writers do the job, at the same time as far as that goes. */
      const both: <J extends JobName>(job: J, args: JobArguments<J>) => Promise<JobResult<J>[]> = (job, args) =>
        Promise.all([
          secondWriter(store.it, store.location)(job, args),
          startLater(() => runHere(store.it, job, args)),
        ]);

      it('count up together without losing a count', async () => {
        const app = await records().app({ name: '0' });
        await both('count', { appId: app.id, times });
        assert.equal((await store.it.read.app(app.id))?.name, String(2 * times));
      });

      it('accept an invitation once, however often they try', async () => {
        const { guest, owner, publisher } = await records().stage();
        const { id: invitationId } = await records().invitation(guest, owner);
        const accepted = await both('accept', { invitationId, times });
        assert.equal(
          accepted.reduce((sum, count) => sum + count),
          1,
        );
        const holders = await store.it.read.usersOfGuests([guest.id]);
        assert.equal(holders.filter(({ userId }) => userId !== publisher.id).length, 1);
        assert.equal((await store.it.read.invitation(invitationId))?.status, 'accepted');
      });

      it('number the versions of one plugin without gaps', async () => {
        const { key } = await records().stage();
        const numbers = await both('publish', { key: key('contended'), times });
        const expected = Array.from({ length: 2 * times }, (_, at) => at + 1);
        assert.deepEqual(
          numbers.flat().sort((a, b) => a - b),
          expected,
        );
        assert.equal((await store.it.read.plugin(key('contended')))?.versionNumber, 2 * times);
      });

      it('revoke a token while it is used: it does not come back', async () => {
        const owner = await records().user();
        const token = await records().token(owner);
        let revoked = false;
        const using = (async () => {
          let usedAtMs = someTimeMs;
          do {
            await store.it.write((tx) => tx.touch(new Map([[token.id, usedAtMs++]])));
          } while (!revoked);
          for (let more = 0; more < 5; more++)
            await store.it.write((tx) => tx.touch(new Map([[token.id, usedAtMs++]])));
        })();
        try {
          const before = store.it.revision();
          await secondWriter(store.it, store.location)('revoke', { tokenId: token.id, userId: owner.id });
          assert.notEqual(store.it.revision(), before);
          assert.equal(await store.it.read.tokenByHash(token.secretHash), undefined, 'gone at once');
        } finally {
          revoked = true;
        }
        await using;
        assert.equal(await store.it.read.token(token.id), undefined);
      });
    });
  }

  describe('opening', () => {
    it('lets several processes that start at once migrate once', async () => {
      const { location, remove } = await backend.makeLocation();
      const opening = Array.from({ length: 3 }, () => backend.openStore(location));
      const stores = await Promise.all(opening);
      const app = await createRecords(stores[0] as Store).app();
      for (const store of stores) assert.deepEqual(await store.read.app(app.id), app);
      await Promise.all(stores.map((store) => store.close()));
      await remove();

      const fresh = await backend.makeLocation();
      const nowhere: JobArguments<'rename'> = { appId: app.id, name: 'none of that id' };
      await Promise.all([1, 2, 3].map(() => runInChild(backend, fresh.location, 'rename', nowhere)));
      await fresh.remove();
    });
  });
}

function runHere<J extends JobName>(store: Store, job: J, args: JobArguments<J>): Promise<JobResult<J>> {
  const run = jobs[job] as (store: Store, args: JobArguments<J>) => Promise<JobResult<J>>;
  return run(store, args);
}

async function startLater<T>(work: () => Promise<T>): Promise<T> {
  await nextTurn();
  return work();
}
