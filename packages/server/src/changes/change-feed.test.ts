import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type AppId, newId } from '@tenon/protocol';
import { beforeAllChanges, type ChangePosition } from '../db/change-records.ts';
import type { CommitListener, Queries, Store } from '../db/store.ts';
import { type ChangeWatch, createChangeFeed } from './change-feed.ts';

const long = 60_000;

/** A store whose heads the test moves; it counts what is asked of it. */
function openStore() {
  const heads = new Map<AppId, ChangePosition>();
  const asked = { heads: 0, changes: 0 };
  const listeners: CommitListener[] = [];
  let revision = 1;
  let failure: Error | undefined;
  const read: Pick<Queries, 'changeHeads' | 'changes'> = {
    async changeHeads(appIds) {
      asked.heads++;
      if (failure !== undefined) throw failure;
      return new Map(appIds.map((appId) => [appId, heads.get(appId) ?? beforeAllChanges]));
    },
    async changes() {
      asked.changes++;
      return [];
    },
  };
  return {
    asked,
    store: {
      read,
      revision: () => revision,
      onCommitted: (listener: CommitListener) => void listeners.push(listener),
    } as unknown as Pick<Store, 'read' | 'revision' | 'onCommitted'>,
    commit(appId?: AppId): void {
      revision++;
      if (appId !== undefined) heads.set(appId, { serial: revision, mark: 'aa' });
    },
    notify(invalidated: Parameters<CommitListener>[0]): void {
      for (const listener of listeners) listener(invalidated);
    },
    fail(error: Error | undefined): void {
      failure = error;
    },
  };
}

/** Whether a watch wakes before some time is over. */
const wakes = async (watch: ChangeWatch, ms = long) => !(await watch.next(ms));

/** Until the store was asked for the first time, of which a new watch is woken. */
async function settled(asked: { readonly heads: number }, ...watches: readonly ChangeWatch[]): Promise<void> {
  while (asked.heads === 0) await setTimeout(5);
  for (const watch of watches) while (await wakes(watch, 20));
}

describe('createChangeFeed()', () => {
  it('wakes the watches of applications with new events when it is notified, also those that wait later', async () => {
    const { store, asked, commit } = openStore();
    const feed = createChangeFeed(store);
    const [appId, other] = [newId('app'), newId('app')];
    const [one, two, third] = [feed.watch(appId), feed.watch(appId), feed.watch(other)];
    await settled(asked, one, two, third);
    commit(appId);
    feed.notify();
    assert.equal(await wakes(one), true);
    assert.equal(await wakes(two), true);
    assert.equal(await wakes(third, 20), false);
    assert.equal(await wakes(one, 20), false);
    for (const watch of [one, two, third]) watch.end();
  });

  it('wakes without its interval when the store notifies it of a commit, and each watch once', async () => {
    const { store, asked, commit, notify } = openStore();
    const feed = createChangeFeed(store, long);
    const [appId, other] = [newId('app'), newId('app')];
    const [one, two] = [feed.watch(appId), feed.watch(other)];
    feed.notify();
    await settled(asked, one, two);
    commit(appId);
    notify(['a tag']);
    feed.notify();
    assert.equal(await wakes(one), true);
    assert.equal(await wakes(one, 20), false);
    assert.equal(await wakes(two, 20), false);
    one.end();
    two.end();
  });

  it('finds a commit that arrives while it reads the heads', async () => {
    const { store, asked, commit, notify } = openStore();
    const feed = createChangeFeed(store, long);
    const [appId, other] = [newId('app'), newId('app')];
    const [one, two] = [feed.watch(appId), feed.watch(other)];
    feed.notify();
    await settled(asked, one, two);
    commit(appId);
    notify(['a tag']); // has read the heads, and waits for the answer
    commit(other);
    notify(['a tag']);
    assert.deepEqual(await Promise.all([wakes(one), wakes(two)]), [true, true]);
    one.end();
    two.end();
  });

  it('leaves a commit that invalidates everything to its interval, because the store may repeat it', async () => {
    const { store, asked, commit, notify } = openStore();
    const feed = createChangeFeed(store, 200);
    const appId = newId('app');
    const watch = feed.watch(appId);
    feed.notify();
    await settled(asked, watch);
    commit(appId);
    const before = asked.heads;
    for (let time = 0; time < 10; time++) notify(undefined);
    assert.equal(asked.heads, before);
    assert.equal(await wakes(watch), true);
    assert.equal(asked.heads, before + 1);
    watch.end();
  });

  it('lets other work run between batches of very many watches', async () => {
    const { store, asked, commit } = openStore();
    const feed = createChangeFeed(store);
    const appId = newId('app');
    const watches = Array.from({ length: 100 }, () => feed.watch(appId));
    await settled(asked, ...watches.slice(0, 1));
    await Promise.all(watches.map((watch) => watch.next(20))); // what woke them at the beginning
    let woken = 0;
    const all = watches.map(async (watch) => {
      if (await wakes(watch)) woken++;
    });
    commit(appId);
    feed.notify();
    const seen: number[] = [];
    while (woken < watches.length) {
      await setImmediate();
      seen.push(woken);
    }
    await Promise.all(all);
    assert.ok(seen.length > 2 && (seen[0] ?? 0) < watches.length, seen.join(' '));
    for (const watch of watches) watch.end();
  });

  it("finds other processes' events by the revision, and wakes their watches, and later all", async () => {
    const { store, asked, commit } = openStore();
    const feed = createChangeFeed(store);
    const [appId, other] = [newId('app'), newId('app')];
    const [one, two] = [feed.watch(appId), feed.watch(other)];
    await settled(asked, one, two);
    const order: string[] = [];
    commit(appId);
    await Promise.all([
      wakes(one).then(() => order.push('one')),
      // Nothing is new here, but who may watch may have changed.
      wakes(two).then(() => order.push('two')),
    ]);
    assert.equal(order.length, 2);
    commit(appId);
    assert.equal(await wakes(one), true);
    for (const watch of [one, two]) watch.end();
  });

  it('does not read the store without a new commit or without a watch', async () => {
    const { store, asked, commit } = openStore();
    const feed = createChangeFeed(store);
    const watch = feed.watch(newId('app'));
    await settled(asked, watch);
    const before = asked.heads;
    assert.equal(await wakes(watch, 200), false);
    assert.equal(asked.heads, before);
    watch.end();
    commit();
    const later = asked.heads;
    await setTimeout(150);
    assert.equal(asked.heads, later);
  });

  it('shares the read of the same batch until the next commit', async () => {
    const { store, asked, commit } = openStore();
    const feed = createChangeFeed(store);
    const appId = newId('app');
    const [first] = await Promise.all([feed.read(appId, 3), feed.read(appId, 3), feed.read(appId, 4)]);
    assert.deepEqual(first, { head: beforeAllChanges, records: [] });
    assert.equal(asked.changes, 2);
    commit();
    await feed.read(appId, 3);
    assert.equal(asked.changes, 3);
  });

  it('wakes all watches when the store fails, and does not share the failed read', async () => {
    const { store, asked, commit, fail } = openStore();
    const feed = createChangeFeed(store);
    const appId = newId('app');
    const watch = feed.watch(appId);
    await settled(asked, watch);
    fail(new Error('busy'));
    commit();
    assert.equal(await wakes(watch), true);
    await assert.rejects(feed.read(appId, 1), /busy/);
    fail(undefined);
    assert.deepEqual(await feed.read(appId, 1), { head: beforeAllChanges, records: [] });
    watch.end();
  });

  it('wakes all watches when it is closed, and later ones at once', async () => {
    const { store, asked } = openStore();
    const feed = createChangeFeed(store);
    const watch = feed.watch(newId('app'));
    await settled(asked, watch);
    assert.equal(feed.isClosed, false);
    feed.close();
    assert.equal(feed.isClosed, true);
    assert.equal(await wakes(watch), true);
    assert.equal(await wakes(feed.watch(newId('app'))), true);
  });
});
