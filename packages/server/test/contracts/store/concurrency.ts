import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../src/db/store.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { prepareChild, runInChild } from './child.ts';
import { type JobArguments, type JobName, type JobResult, jobs } from './jobs.ts';

/** How often each of two writers does its job. */
const times = 40;

/** Makes a writer ready for a job. */
type Prepare = <J extends JobName>(job: J, args: JobArguments<J>) => Promise<() => Promise<JobResult<J>>>;

/** Two writers at once lose nothing. */
export function concurrencyContract(backend: Backend): void {
  twoWriters(backend, 'two writers in one process', (store) => async (job, args) => () => runHere(store, job, args));
  twoWriters(
    backend,
    'a writer in this process and one in another',
    (_, location) => (job, args) => prepareChild(backend, location, job, args),
  );

  describe('opening', () => {
    it('migrates once when several stores open at once', async () => {
      const { location, remove } = await backend.makeLocation();
      const stores = await Promise.all([1, 2, 3].map(() => backend.openStore(location)));
      const app = await createRecords(stores[0] as Store).app();
      for (const store of stores) assert.deepEqual(await store.read.app(app.id), app);
      await Promise.all(stores.map((store) => store.close()));
      await remove();
    });

    it('migrates once when several processes start at once', async () => {
      const { location, remove } = await backend.makeLocation();
      await Promise.all([1, 2, 3].map(() => runInChild(backend, location, 'insertUser', {})));
      const store = await backend.openStore(location);
      assert.equal(await store.read.anyUser(), true);
      await store.close();
      await remove();
    });
  });
}

function twoWriters(backend: Backend, name: string, secondWriter: (store: Store, location: string) => Prepare): void {
  describe(name, () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const second: Prepare = (job, args) => secondWriter(store.it, store.location)(job, args);
    /** Has both do the job at the same time. */
    const both = async <J extends JobName>(job: J, args: JobArguments<J>): Promise<JobResult<J>[]> => {
      const runSecond = await second(job, args);
      return Promise.all([runSecond(), runHere(store.it, job, args)]);
    };

    it('count up together without losing a count', async () => {
      const app = await records().app({ name: '0' });
      await both('count', { appId: app.id, times });
      assert.equal((await store.it.read.app(app.id))?.name, String(2 * times));
    });

    it('wait for one that is between asking and changing', async () => {
      const app = await records().app({ name: '0' });
      const runSecond = await second('count', { appId: app.id, times: 3 });
      const asked = Promise.withResolvers<void>();
      const slow = store.it.write(async (tx) => {
        const name = String(Number((await tx.app(app.id))?.name) + 1);
        asked.resolve();
        await sleep(60); // long enough for the other to ask too, if it could
        await tx.updateApp(app.id, { name, updatedAtMs: someTimeMs });
      });
      await asked.promise;
      await Promise.all([slow, runSecond()]);
      assert.equal((await store.it.read.app(app.id))?.name, '4');
    });

    it('accept an invitation once, however often they try', async () => {
      const { guest, owner, publisher } = await records().stage();
      const { id: invitationId } = await records().invitation(guest, owner);
      const accepted = await both('accept', { invitationId, times });
      const sum = accepted.reduce((total, count) => total + count);
      assert.equal(sum, 1);
      const holders = await store.it.read.usersOfGuests([guest.id]);
      assert.equal(holders.filter(({ userId }) => userId !== publisher.id).length, 1);
      assert.equal((await store.it.read.invitation(invitationId))?.status, 'accepted');
    });

    it('exchange an authorization code once, however often they try', async () => {
      const user = await records().user();
      const { codeHash } = await records().authorizationCode(user);
      const exchanged = await both('exchange', { codeHash, times });
      assert.equal(
        exchanged.reduce((total, count) => total + count),
        1,
      );
      const tokens = await store.it.read.tokens(user.id, undefined, {});
      assert.equal(tokens.length, 1);
      assert.equal((await store.it.read.authorizationCodeByHash(codeHash))?.tokenId, tokens[0]?.id);
    });

    it('number the versions of one plugin without gaps', async () => {
      const { key } = await records().stage();
      const numbers = await both('publish', { key: key('contended'), times });
      assert.deepEqual(
        numbers.flat().sort((a, b) => a - b),
        Array.from({ length: 2 * times }, (_, at) => at + 1),
      );
      assert.equal((await store.it.read.plugin(key('contended')))?.newest.number, 2 * times);
    });

    it('revoke a token while it is used, and it stays revoked', async () => {
      const owner = await records().user();
      const token = await records().token(owner);
      const runSecond = await second('revoke', { tokenId: token.id, userId: owner.id });
      let [revoked, usedAtMs] = [false, someTimeMs];
      const use = () =>
        store.it.write((tx) =>
          tx.updateLastUsed(new Map([[token.id, { usedAtMs: usedAtMs++, address: '192.0.2.1' }]])),
        );
      const using = (async () => {
        while (!revoked) await use();
        for (let more = 0; more < 5; more++) await use();
      })();
      try {
        const before = store.it.revision();
        await runSecond();
        assert.notEqual(store.it.revision(), before);
        assert.equal(await store.it.read.tokenByHash(token.secretHash), undefined, 'gone at once');
      } finally {
        revoked = true;
        await using;
      }
      assert.equal(await store.it.read.token(token.id), undefined);
    });
  });
}

function runHere<J extends JobName>(store: Store, job: J, args: JobArguments<J>): Promise<JobResult<J>> {
  const run = jobs[job] as (store: Store, args: JobArguments<J>) => Promise<JobResult<J>>;
  return run(store, args);
}
