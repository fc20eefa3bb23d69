import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommitListener } from '../ports.ts';
import { createMemories, type MemoryKind } from './memories.ts';
import type { Subject } from './subject.ts';

/** Answers by a key that is the one subject that they depend on. */
const words: MemoryKind<string> = { name: 'words', subjects: (_word, key) => [key], weigh: (word) => word.length };

/** A store that tells of commits when it is asked for its revision, as one does that looks into a file. */
function openStore() {
  const listeners: CommitListener[] = [];
  let untold: (readonly Subject[] | undefined)[] = [];
  let revision = 1;
  return {
    store: {
      revision() {
        for (const touched of untold) for (const listener of listeners) listener(touched);
        untold = [];
        return revision;
      },
      onCommitted: (listener: CommitListener) => void listeners.push(listener),
    },
    commit(touched?: readonly Subject[]) {
      revision++;
      untold.push(touched);
    },
  };
}

/** A load that counts how often it is made. */
function counting(value = 'answer') {
  const load = async () => `${value} ${++load.count}`;
  load.count = 0;
  return load;
}

describe('createMemories()', () => {
  it('keeps an answer until something that it depends on is touched', async () => {
    const { store, commit } = openStore();
    const memory = createMemories(store).of(words);
    const load = counting();
    assert.equal(await memory.getOrLoad('key', load), 'answer 1');
    assert.equal(await memory.getOrLoad('key', load), 'answer 1');
    commit(['another']);
    commit([]);
    assert.equal(await memory.getOrLoad('key', load), 'answer 1');
    commit(['another', 'key']);
    assert.equal(memory.get('key'), undefined);
    assert.equal(await memory.getOrLoad('key', load), 'answer 2');
  });

  it('forgets everything when nobody knows what was touched', async () => {
    const { store, commit } = openStore();
    const memory = createMemories(store).of(words);
    const load = counting();
    await memory.getOrLoad('key', load);
    commit();
    assert.equal(await memory.getOrLoad('key', load), 'answer 2');
  });

  it('does not keep that there was no answer', async () => {
    const memory = createMemories(openStore().store).of(words);
    let loads = 0;
    const load = async () => {
      loads++;
      return undefined;
    };
    await memory.getOrLoad('key', load);
    await memory.getOrLoad('key', load);
    assert.equal(loads, 2);
  });

  it('does not keep what a load began to read before its subject was touched, whether that is known by then or not', async () => {
    for (const isKnown of [true, false]) {
      const { store, commit } = openStore();
      const memory = createMemories(store).of(words);
      const gate = Promise.withResolvers<string>();
      const early = memory.getOrLoad('key', () => gate.promise);
      commit(['key']);
      if (isKnown) store.revision();
      gate.resolve('old');
      assert.equal(await early, 'old');
      assert.equal(await memory.getOrLoad('key', async () => 'new'), 'new');
    }
  });

  it('keeps what a load read while something else was touched', async () => {
    const { store, commit } = openStore();
    const memory = createMemories(store).of(words);
    const gate = Promise.withResolvers<string>();
    const early = memory.getOrLoad('key', () => gate.promise);
    commit(['another']);
    gate.resolve('found');
    await early;
    assert.equal(memory.get('key'), 'found');
  });

  it('shares a load among those who ask meanwhile, but not with who asks after a commit', async () => {
    const { store, commit } = openStore();
    const memory = createMemories(store).of(words);
    const load = counting();
    const gate = Promise.withResolvers<void>();
    const slow = () => gate.promise.then(load);
    const asked = [memory.getOrLoad('key', slow), memory.getOrLoad('key', slow)];
    commit(['another']);
    asked.push(memory.getOrLoad('key', slow));
    gate.resolve();
    assert.deepEqual(await Promise.all(asked), ['answer 1', 'answer 1', 'answer 2']);
  });

  it('keeps nothing of a load that fails, and has the next one try again', async () => {
    const memory = createMemories(openStore().store).of(words);
    const fail = () => Promise.reject(new Error('away'));
    const both = [memory.getOrLoad('key', fail), memory.getOrLoad('key', fail)];
    for (const one of both) await assert.rejects(one, /away/);
    assert.equal(await memory.getOrLoad('key', async () => 'back'), 'back');
  });

  it('does not keep what is set as of a moment after which its subject was touched', () => {
    const { store, commit } = openStore();
    const memories = createMemories(store);
    const memory = memories.of(words);
    const since = memories.now();
    commit(['key']);
    memory.set('key', 'old', since);
    assert.equal(memory.get('key'), undefined);
    memory.set('key', 'new', memories.now());
    assert.equal(memory.get('key'), 'new');
  });

  it('forgets what nobody has asked for while the room was filled anew, of all kinds alike', async () => {
    const { store } = openStore();
    const memories = createMemories(store, 100_000);
    const memory = memories.of(words);
    const others = memories.of<string>({ ...words, name: 'others' });
    memory.set('asked for', 'x', memories.now());
    memory.set('not asked for', 'x', memories.now());
    for (let at = 0; at < 30; at++) {
      others.set(`other ${at}`, 'x'.repeat(10_000), memories.now());
      assert.equal(memory.get('asked for'), 'x');
    }
    assert.equal(memory.get('not asked for'), undefined);
    const kept = Array.from({ length: 30 }, (_, at) => others.get(`other ${at}`)).filter(
      (value) => value !== undefined,
    );
    assert.ok(kept.length > 2 && kept.length < 12, `${kept.length}`);
  });

  it('takes no more room for an answer that is found anew again and again', () => {
    const { store, commit } = openStore();
    const memories = createMemories(store, 100_000);
    const memory = memories.of(words);
    memory.set('at rest', 'x', memories.now());
    for (let round = 0; round < 100; round++) {
      memory.set('moving', 'x'.repeat(10_000), memories.now());
      commit(['moving']);
      if (round % 2 === 0) assert.equal(memory.get('moving'), undefined);
    }
    assert.equal(memory.get('at rest'), 'x');
  });

  it('counts what it knew, what it did not, and what no longer held', async () => {
    const { store, commit } = openStore();
    const memories = createMemories(store);
    const memory = memories.of(words);
    await memory.getOrLoad('key', counting());
    memory.get('key');
    commit(['key']);
    memory.get('key');
    memory.get('key');
    assert.deepEqual({ ...memories.usage }, { known: 1, unknown: 2, stale: 1 });
  });
});
