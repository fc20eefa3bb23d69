import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { newId, type VersionId } from '@tenon/protocol';
import { deleteApp } from '../../src/apps/apps.ts';
import { deleteAccount } from '../../src/apps/delete-account.ts';
import { finishPendingChanges } from '../../src/apps/finish-deletions.ts';
import { removeMember } from '../../src/apps/members.ts';
import type { Actor } from '../../src/auth/access.ts';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { createStoredContents } from '../../src/blobs/stored-contents.ts';
import { createCache } from '../../src/cache/cache.ts';
import { maxRelatedRows } from '../../src/db/paging.ts';
import type { Mutations, Store } from '../../src/db/store.ts';
import { unrestricted } from '../../src/db/trust-records.ts';
import type { Deps } from '../../src/deps.ts';
import { dryRun } from '../../src/plugins/dry-run.ts';
import { deleteExtensionPoint } from '../../src/plugins/extension-points.ts';
import { deletePlugin, rollBack } from '../../src/plugins/host-control.ts';
import { listPlugins } from '../../src/plugins/plugins.ts';
import { publish } from '../../src/plugins/publish.ts';
import { decideVersion, listVersions, readVersion } from '../../src/plugins/versions.ts';
import { type Around, callAround } from '../../src/queries.ts';
import { withEffects } from '../../src/with-effects.ts';
import { accountServices } from '../helpers/account-services.ts';
import { anyModule } from '../helpers/any-module.ts';
import { createRecords, someTimeMs } from '../helpers/records.ts';
import type { Backend } from './backend.ts';

/** More than two pieces. */
const manyGuests = 2_500;

/** What other writers wait for at most: rows that one call changes, and calls of one transaction. */
const mostRows = 1_000;

/** What the calls of each transaction were, and how many guests each of those was about that moves bindings. */
interface Watched {
  readonly store: Store;
  /** How many rows a question to the store returned at most. */
  readonly read: { most: number };
  readonly transactions: { readonly calls: string[]; readonly moved: number[] }[];
  /** Has the transaction of this number, counted from now, fail. */
  failAt(number: number): void;
}

function watch(store: Store): Watched {
  const transactions: Watched['transactions'] = [];
  let failing = Number.POSITIVE_INFINITY;
  const read = { most: 0 };
  const countRows: Around = async (_name, run) => {
    const answer = await run();
    if (Array.isArray(answer)) read.most = Math.max(read.most, answer.length);
    return answer;
  };
  return {
    transactions,
    read,
    failAt(number) {
      failing = transactions.length + number;
    },
    store: {
      ...store,
      read: callAround(store.read, countRows),
      write: (work) =>
        store.write(async (tx) => {
          if (transactions.length >= failing) throw new Error('killed');
          const seen = { calls: [] as string[], moved: [] as number[] };
          transactions.push(seen);
          const watched = callAround(tx, (name, run, args) => {
            seen.calls.push(name);
            if (name === 'moveBindings') seen.moved.push((args[1] as readonly unknown[]).length);
            return countRows(name, run, args);
          });
          return work(watched);
        }),
    },
  };
}

/** Changes of what has very many rows go in bounded statements and transactions, and are finished by the next process. */
export function largeChangesContract(title: string, backend: Backend): void {
  describe(`large changes on ${title}`, { timeout: 300_000 }, () => {
    let location: Awaited<ReturnType<Backend['makeLocation']>>;
    let store: Store;
    let blobs: BlobStore;
    before(async () => {
      location = await backend.makeLocation();
      store = await backend.openStore(location.location);
      blobs = await backend.openBlobs(location.location);
    });
    after(async () => {
      await blobs.close();
      await store.close();
      await location.remove();
    });

    async function stage(count: number) {
      const records = createRecords(store);
      const { app, extensionPoint, publisher, owner, guest, key } = await records.stage();
      const token = await records.token(publisher, { scopes: ['read', 'publish', 'manage'] });
      const added = Array.from({ length: count - 1 }, (_, at) => ({
        id: newId('guest'),
        appId: app.id,
        guestKey: `key ${at}`,
        label: null,
        note: null,
        ring: null,
        createdAtMs: someTimeMs,
      }));
      await store.write(async (tx) => {
        for (const one of added) {
          await tx.insertGuest(one);
          await tx.putGuestUser({ guestId: one.id, userId: publisher.id, acceptedAtMs: someTimeMs });
        }
        await tx.putMember({ appId: app.id, userId: publisher.id, role: 'owner', createdAtMs: someTimeMs });
      });
      const guests = [guest, ...added];
      const watched = watch(
        withEffects(store, {
          requiresAudit: false,
          changes: { clock: () => someTimeMs, random: randomBytes, keep: 10_000 },
        }),
      );
      const deps: Deps = {
        store: watched.store,
        blobs,
        checker: anyModule,
        contents: createStoredContents({ store, blobs }),
        cache: createCache(store),
        clock: () => someTimeMs,
        random: randomBytes,
        ...accountServices(),
      };
      const actor: Actor = {
        userId: publisher.id,
        tokenId: token.id,
        scopes: ['read', 'publish', 'manage'],
        appId: null,
        sessionId: null,
        hasPasskey: false,
        expiresAtMs: Number.POSITIVE_INFINITY,
        ...unrestricted,
      };
      const access = { actor, app, extensionPoint, role: 'owner', guests, hasMoreGuests: false } as const;
      const target = { userId: publisher.id, name: 'plugin' };
      const release = () => ({ bytes: new Uint8Array(randomBytes(16)) });
      return {
        app,
        extensionPoint,
        owner,
        guests,
        watched,
        deps,
        access,
        target,
        actor,
        key: key('plugin'),
        publish: () => publish(deps, actor, access, target, release()),
        tryPublish: () => publish(deps, actor, access, target, release(), { isDryRun: true }),
        yank: (number: number) => decideVersion(deps, access, target, String(number), 'yank', 'why'),
        /** How many claims bind each version. */
        async bound(): Promise<Map<VersionId | null, number>> {
          const facts = await store.read.bindingFacts(key('plugin'));
          const groups = Map.groupBy(facts, ({ versionId }) => versionId);
          return new Map([...groups].map(([id, of]) => [id, of.length]));
        },
        async versionId(number: number): Promise<VersionId> {
          return (await store.read.version(key('plugin'), number))?.id as VersionId;
        },
        async head(): Promise<number> {
          return (await store.read.changeHeads([app.id])).get(app.id)?.serial ?? -1;
        },
      };
    }

    /** Demands that no transaction moves, or calls, more than it may. */
    function assertBounded({ transactions }: Watched): void {
      for (const { calls, moved } of transactions) {
        assert.ok(moved.reduce((sum, of) => sum + of, 0) <= mostRows, `${moved} bindings in one transaction`);
        assert.ok(calls.length < 60, `${calls.length} calls in one transaction`);
      }
    }

    it('publishes for thousands of guests with as many statements as for a hundred, and binds under all', async () => {
      const [few, many] = [await stage(100), await stage(manyGuests)];
      for (const one of [few, many]) {
        for (const number of [1, 2]) {
          const { bindings, plugin } = await one.publish();
          assert.equal(bindings.length, one.guests.length);
          assert.deepEqual([...(await one.bound())], [[plugin.newest.id, one.guests.length]]);
          assert.equal(plugin.newest.number, number);
        }
        assertBounded(one.watched);
      }
      const callsOf = ({ watched }: typeof few) =>
        Math.max(...watched.transactions.map(({ calls }) => calls.filter((name) => !isQuery(name)).length));
      assert.ok(callsOf(many) <= callsOf(few) + 1);
      // Hosts get one event for all lists: each would be a row and an event.
      assert.equal(await few.head(), 200);
      assert.equal(await many.head(), 2);
      assert.deepEqual(await store.read.changes(many.app.id, 0, 10), []);
    });

    it('goes back to the older version everywhere when thousands bind the one that is yanked', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      await one.publish();
      const { boundGuestIds } = await one.yank(2);
      assert.deepEqual(boundGuestIds, []);
      assert.deepEqual([...(await one.bound())], [[await one.versionId(1), manyGuests]]);
      assertBounded(one.watched);
      assert.equal(await one.head(), 3);
    });

    it('reads and lists no more than 5,000 guests of a version, or of a plugin', async () => {
      const one = await stage(maxRelatedRows + 500);
      const published = await one.publish();
      assert.equal(published.bindings.length, maxRelatedRows);
      assert.equal(published.hasMoreBindings, true);
      await one.publish();
      one.watched.read.most = 0;
      const yanked = await one.yank(2);
      assert.equal(yanked.guestIds.length, maxRelatedRows);
      assert.deepEqual([yanked.boundGuestIds.length, yanked.hasMoreGuests], [0, true]);
      const first = await readVersion(one.deps, one.actor, one.access, one.target, '1');
      assert.deepEqual([first.boundGuestIds.length, first.hasMoreGuests], [maxRelatedRows, true]);
      const pages = [
        await listVersions(one.deps, one.actor, one.access, one.target, {}),
        await listPlugins(one.deps, one.access, {}, {}),
      ];
      for (const { items } of pages) assert.equal(items.length, 1);
      assert.ok(one.watched.read.most <= maxRelatedRows + 1, `${one.watched.read.most} rows`);
    });

    it('yanks the same bytes under very many names with few statements in one transaction', async () => {
      const one = await stage(3);
      const bytes = new Uint8Array(randomBytes(16));
      const names = Array.from({ length: 100 }, (_, at) => `copy-${at}`);
      for (const name of names) {
        await publish(one.deps, one.actor, one.access, { ...one.target, name }, { bytes });
      }
      one.watched.transactions.length = 0;
      const owner = { ...one.access, actor: { ...one.actor, userId: one.owner.id } };
      await decideVersion(one.deps, owner, { ...one.target, name: 'copy-7' }, '1', 'yank', 'why');
      const [yank, ...pieces] = one.watched.transactions;
      const calls = yank?.calls.filter((name) => !['pendingRebind', 'putPendingRebind'].includes(name)) ?? [];
      assert.ok(calls.length < 30, calls.join(' '));
      assert.equal(pieces.length, names.length - 1, 'each other plugin in a transaction of its own');
      for (const name of names) {
        const key = { ...one.key, name };
        assert.equal((await store.read.version(key, 1))?.state, 'yanked');
        assert.equal(await store.read.pendingRebind(key), undefined);
        const facts = await store.read.bindingFacts(key);
        assert.deepEqual(
          facts.map(({ versionId }) => versionId),
          [null, null, null],
        );
      }
    });

    it('invalidates each list once when a batch changes it, without a change event for it', async () => {
      const one = await stage(manyGuests);
      const invalidated: (readonly string[] | undefined)[] = [];
      store.onCommitted((tags) => void invalidated.push(tags));
      await one.publish();
      store.revision();
      const lists = invalidated
        .flatMap((tags) => tags ?? [])
        .filter((of) => of.startsWith(`${one.extensionPoint.id} `));
      if (invalidated.includes(undefined)) return; // a process may have fallen behind, which invalidates everything
      assert.deepEqual(new Set(lists).size, manyGuests);
    });

    for (const killedAt of [1, 2]) {
      it(`is completed by the next request when it is killed before batch ${killedAt}`, async () => {
        const one = await stage(manyGuests);
        await one.publish();
        await one.publish();
        one.watched.failAt(killedAt);
        await assert.rejects(one.yank(2), /killed/);
        one.watched.failAt(Number.POSITIVE_INFINITY);
        assert.equal((await store.read.version(one.key, 2))?.state, 'yanked');
        assert.deepEqual(await store.check(), [], 'what is pending is no fault');
        const settled = await finishPendingChanges(one.deps);
        assert.ok(settled.plugins >= 1);
        assert.deepEqual([...(await one.bound())], [[await one.versionId(1), manyGuests]]);
        assert.equal(await store.read.pendingRebind(one.key), undefined);
      });
    }

    it('examines the first 1,000 bindings in a dry run, in one transaction that is rolled back', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      await one.publish();
      const state = async () => [
        await one.bound(),
        await one.head(),
        await store.read.versions(one.key, {}),
        await store.read.auditOfApp(one.app.id, {}, { limit: 10 }),
        store.revision(),
      ];
      const before = await state();
      one.watched.transactions.length = 0;
      const { plugin, bindings, created } = await one.tryPublish();
      assert.deepEqual([plugin.newest.number, created, bindings.length], [3, 'version', manyGuests]);
      assertBounded(one.watched);
      assert.equal(one.watched.transactions.length, 1);
      assert.deepEqual(await state(), before);
      one.watched.transactions.length = 0;
      const decide = (deps: Deps) => decideVersion(deps, one.access, one.target, '2', 'yank', 'why');
      for (const [act, after] of [
        [decide, 1],
        [(deps: Deps) => rollBack(deps, one.access, one.target, 1), 1],
        [(deps: Deps) => deletePlugin(deps, one.access, one.target), null],
      ] as const) {
        const { bindings, hasMore } = await dryRun(one.deps, act);
        assert.equal(hasMore, true);
        assert.equal(bindings.length, mostRows);
        for (const binding of bindings) assert.deepEqual([binding.before, binding.after], [2, after]);
      }
      assert.equal(one.watched.transactions.length, 3);
      assertBounded(one.watched);
      assert.deepEqual(await state(), before);
    });

    it('completes a pending change before the next change of the same plugin', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      await one.publish();
      await one.publish();
      one.watched.failAt(2);
      await assert.rejects(rollBack(one.deps, one.access, one.target, 1), /killed/);
      one.watched.failAt(Number.POSITIVE_INFINITY);
      const { plugin } = await one.publish();
      assert.equal(plugin.newest.number, 4);
      assert.deepEqual(
        [...(await one.bound())],
        [[plugin.newest.id, manyGuests]],
        'the later publish ends the roll back',
      );
      await rollBack(one.deps, one.access, one.target, 2);
      assert.deepEqual([...(await one.bound())], [[await one.versionId(2), manyGuests]]);
      await one.yank(2);
      assert.deepEqual([...(await one.bound())], [[plugin.newest.id, manyGuests]], 'a yank ends roll backs to it');
      assertBounded(one.watched);
    });

    it('deletes a plugin that is bound under thousands of guests, and reserves its name', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      one.watched.failAt(2);
      await assert.rejects(deletePlugin(one.deps, one.access, one.target), /killed/);
      one.watched.failAt(Number.POSITIVE_INFINITY);
      assert.equal(await store.read.plugin(one.key), undefined, 'it is gone at once');
      await finishPendingChanges(one.deps);
      assert.deepEqual([...(await one.bound())], []);
      assert.deepEqual(await store.read.versions(one.key, {}), []);
      const guestIds = one.guests.map(({ id }) => id);
      const others = { ...one.key, userId: one.owner.id };
      assert.equal((await store.read.nameReservations(others, guestIds, someTimeMs)).length, manyGuests);
      assertBounded(one.watched);
      assert.equal((await one.publish()).plugin.newest.number, 1, 'its publisher can use the name again');
    });

    it('removes a member with thousands of guests with as many statements as for one', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      one.watched.transactions.length = 0;
      const owner = { ...one.access, actor: { ...one.actor, userId: one.owner.id } };
      await removeMember(one.deps, owner, one.actor.userId, true);
      assertBounded(one.watched);
      assert.deepEqual(await store.read.guestsHeldBy(one.actor.userId, one.app.id), []);
      assert.deepEqual([...(await one.bound())], []);
      assert.deepEqual(await store.check(), []);
    });

    it('deletes an account whose plugins are bound under thousands of guests, and frees their names', async () => {
      const one = await stage(manyGuests);
      await one.publish();
      const before = await one.head();
      one.watched.failAt(2);
      await assert.rejects(deleteAccount(one.deps, one.actor, undefined), /killed/);
      one.watched.failAt(Number.POSITIVE_INFINITY);
      assert.equal((await store.read.user(one.actor.userId))?.deletedAtMs, someTimeMs, 'it is gone at once');
      assert.equal(await store.read.plugin(one.key), undefined);
      assert.deepEqual(await store.check(), []);
      await finishPendingChanges(one.deps);
      assert.deepEqual([...(await one.bound())], []);
      assert.deepEqual(await store.read.versions(one.key, {}), []);
      const guestIds = one.guests.map(({ id }) => id);
      assert.deepEqual(await store.read.nameReservations({ ...one.key, userId: one.owner.id }, guestIds, 1), []);
      assert.ok((await one.head()) > before, 'hosts get an event');
      assertBounded(one.watched);
    });

    for (const what of ['extension point', 'application'] as const) {
      it(`marks an ${what} with thousands of bindings as deleted, and purges it later in batches`, async () => {
        const one = await stage(manyGuests);
        const { plugin } = await one.publish();
        const { contentAddress } = plugin.newest;
        if (what === 'application') await deleteApp(one.deps, one.access);
        else await deleteExtensionPoint(one.deps, one.access);
        assert.equal((await store.read.app(one.app.id)) === undefined, what === 'application');
        assert.equal(await store.read.mayReadContent(one.actor.userId, contentAddress, undefined), false);
        const appIds = (await store.read.appsOf(one.actor.userId, undefined, {})).map(({ id }) => id);
        assert.equal(appIds.includes(one.app.id), what !== 'application');
        assert.deepEqual(await store.check(), []);
        await finishPendingChanges(one.deps);
        assert.deepEqual(await store.read.pendingDeletions(10), []);
        assert.deepEqual([...(await one.bound())], []);
        assert.deepEqual(await store.read.versions(one.key, {}), []);
        assert.equal((await store.read.guests(one.app.id, {})).length, what === 'application' ? 0 : manyGuests);
        assertBounded(one.watched);
      });
    }
  });
}

function isQuery(name: string): boolean {
  const mutations: readonly (keyof Mutations)[] = [
    'putVersionGuests',
    'putBindingKeys',
    'selectVersion',
    'moveBindings',
    'putPendingRebind',
    'endPendingRebind',
    'insertVersion',
    'insertAuditEvent',
  ];
  return !(mutations as readonly string[]).includes(name);
}
