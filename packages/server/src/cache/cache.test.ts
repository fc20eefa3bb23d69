import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommitListener } from '../db/store.ts';
import { type CacheSpec, createCache } from './cache.ts';
import type { CacheTag } from './cache-tag.ts';

/** Values with their key as the only tag. */
const words: CacheSpec<string> = { name: 'words', tags: (_word, key) => [key], sizeOf: (word) => word.length };

/** A store that calls its listeners in `revision()`, as the SQLite store does. */
function openStore() {
  const listeners: CommitListener[] = [];
  let unread: (readonly CacheTag[] | undefined)[] = [];
  let revision = 1;
  return {
    store: {
      revision() {
        for (const invalidated of unread) for (const listener of listeners) listener(invalidated);
        unread = [];
        return revision;
      },
      onCommitted: (listener: CommitListener) => void listeners.push(listener),
    },
    commit(invalidated?: readonly CacheTag[]) {
      revision++;
      unread.push(invalidated);
    },
  };
}

/** A load that counts how often it is made. */
function counting(value = 'answer') {
  const load = async () => `${value} ${++load.count}`;
  load.count = 0;
  return load;
}

describe('createCache()', () => {
  it('caches a value until one of its tags is invalidated', async () => {
    const { store, commit } = openStore();
    const partition = createCache(store).of(words);
    const load = counting();
    assert.equal(await partition.getOrLoad('key', load), 'answer 1');
    assert.equal(await partition.getOrLoad('key', load), 'answer 1');
    commit(['another']);
    commit([]);
    assert.equal(await partition.getOrLoad('key', load), 'answer 1');
    commit(['another', 'key']);
    assert.equal(partition.get('key'), undefined);
    assert.equal(await partition.getOrLoad('key', load), 'answer 2');
  });

  it('invalidates everything after a commit with unknown tags', async () => {
    const { store, commit } = openStore();
    const partition = createCache(store).of(words);
    const load = counting();
    await partition.getOrLoad('key', load);
    commit();
    assert.equal(await partition.getOrLoad('key', load), 'answer 2');
  });

  it('does not cache a missing value', async () => {
    const partition = createCache(openStore().store).of(words);
    let loads = 0;
    const load = async () => {
      loads++;
      return undefined;
    };
    await partition.getOrLoad('key', load);
    await partition.getOrLoad('key', load);
    assert.equal(loads, 2);
  });

  it('does not cache a load that started before its tag was invalidated', async () => {
    for (const isKnown of [true, false]) {
      const { store, commit } = openStore();
      const partition = createCache(store).of(words);
      const gate = Promise.withResolvers<string>();
      const early = partition.getOrLoad('key', () => gate.promise);
      commit(['key']);
      if (isKnown) store.revision();
      gate.resolve('old');
      assert.equal(await early, 'old');
      assert.equal(await partition.getOrLoad('key', async () => 'new'), 'new');
    }
  });

  it('caches a load during which another tag was invalidated', async () => {
    const { store, commit } = openStore();
    const partition = createCache(store).of(words);
    const gate = Promise.withResolvers<string>();
    const early = partition.getOrLoad('key', () => gate.promise);
    commit(['another']);
    gate.resolve('found');
    await early;
    assert.equal(partition.get('key'), 'found');
  });

  it('shares a load among concurrent callers, but not with callers after a commit', async () => {
    const { store, commit } = openStore();
    const partition = createCache(store).of(words);
    const load = counting();
    const gate = Promise.withResolvers<void>();
    const slow = () => gate.promise.then(load);
    const asked = [partition.getOrLoad('key', slow), partition.getOrLoad('key', slow)];
    commit(['another']);
    asked.push(partition.getOrLoad('key', slow));
    gate.resolve();
    assert.deepEqual(await Promise.all(asked), ['answer 1', 'answer 1', 'answer 2']);
  });

  it('does not cache a failed load', async () => {
    const partition = createCache(openStore().store).of(words);
    const fail = () => Promise.reject(new Error('away'));
    const both = [partition.getOrLoad('key', fail), partition.getOrLoad('key', fail)];
    for (const one of both) await assert.rejects(one, /away/);
    assert.equal(await partition.getOrLoad('key', async () => 'back'), 'back');
  });

  it('does not cache a value that is older than the invalidation of its tag', () => {
    const { store, commit } = openStore();
    const cache = createCache(store);
    const partition = cache.of(words);
    const since = cache.version();
    commit(['key']);
    partition.set('key', 'old', since);
    assert.equal(partition.get('key'), undefined);
    partition.set('key', 'new', cache.version());
    assert.equal(partition.get('key'), 'new');
  });

  it('evicts entries of all specs that were not used since the cache was filled', async () => {
    const { store } = openStore();
    const cache = createCache(store, 100_000);
    const partition = cache.of(words);
    const others = cache.of<string>({ ...words, name: 'others' });
    partition.set('asked for', 'x', cache.version());
    partition.set('not asked for', 'x', cache.version());
    for (let at = 0; at < 30; at++) {
      others.set(`other ${at}`, 'x'.repeat(10_000), cache.version());
      assert.equal(partition.get('asked for'), 'x');
    }
    assert.equal(partition.get('not asked for'), undefined);
    const kept = Array.from({ length: 30 }, (_, at) => others.get(`other ${at}`)).filter(
      (value) => value !== undefined,
    );
    assert.ok(kept.length > 2 && kept.length < 12, `${kept.length}`);
  });

  it('does not grow when the same response is set repeatedly', () => {
    const { store, commit } = openStore();
    const cache = createCache(store, 100_000);
    const partition = cache.of(words);
    partition.set('at rest', 'x', cache.version());
    for (let round = 0; round < 100; round++) {
      partition.set('moving', 'x'.repeat(10_000), cache.version());
      commit(['moving']);
      if (round % 2 === 0) assert.equal(partition.get('moving'), undefined);
    }
    assert.equal(partition.get('at rest'), 'x');
  });

  it('counts hits, misses and stale entries', async () => {
    const { store, commit } = openStore();
    const cache = createCache(store);
    const partition = cache.of(words);
    await partition.getOrLoad('key', counting());
    partition.get('key');
    commit(['key']);
    partition.get('key');
    partition.get('key');
    assert.deepEqual({ ...cache.usage }, { hit: 1, miss: 2, stale: 1 });
  });
});
