import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSnapshots, memoryKey } from './snapshots.ts';

const words = memoryKey<string | undefined>('words');

function revisions() {
  let revision = 1;
  return { store: { revision: () => revision }, commit: () => void revision++ };
}

describe('createSnapshots()', () => {
  it('remembers an answer until the revision changes', async () => {
    const { store, commit } = revisions();
    const snapshots = createSnapshots(store);
    let loads = 0;
    const ask = () =>
      snapshots
        .current()
        .memory(words)
        .getOrLoad('key', async () => `answer ${++loads}`);
    assert.equal(await ask(), 'answer 1');
    assert.equal(await ask(), 'answer 1');
    commit();
    assert.equal(await ask(), 'answer 2');
  });

  it('does not remember that there was no answer', async () => {
    const snapshots = createSnapshots(revisions().store);
    let loads = 0;
    const ask = () =>
      snapshots
        .current()
        .memory(words)
        .getOrLoad('key', async () => {
          loads++;
          return undefined;
        });
    await ask();
    await ask();
    assert.equal(loads, 2);
  });

  it('never serves what a load began to read before a commit', async () => {
    const { store, commit } = revisions();
    const snapshots = createSnapshots(store);
    const gate = Promise.withResolvers<string>();
    const early = snapshots
      .current()
      .memory(words)
      .getOrLoad('key', () => gate.promise);
    commit();
    gate.resolve('old');
    assert.equal(await early, 'old');
    assert.equal(
      await snapshots
        .current()
        .memory(words)
        .getOrLoad('key', async () => 'new'),
      'new',
    );
  });

  it('empties a memory that grows past its bound', async () => {
    const snapshots = createSnapshots(revisions().store);
    const blobs = memoryKey<Uint8Array>('blobs', (bytes) => bytes.length);
    const memory = snapshots.current().memory(blobs);
    const big = new Uint8Array(40 * 1024 * 1024);
    let loads = 0;
    const load = async () => {
      loads++;
      return big;
    };
    await memory.getOrLoad('a', load);
    await memory.getOrLoad('b', load);
    await memory.getOrLoad('a', load);
    assert.equal(loads, 3);
  });
});
