import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StorageFullError, UnavailableError } from '../../db/store.ts';
import { createReadiness } from './readiness.ts';

const fine = { ping: async () => {}, pingWrite: async () => {} };
const silent = { ...fine, ping: () => new Promise<void>(() => {}) };
const failing = (error: Error) => ({ ...fine, ping: () => Promise.reject(error) });

describe('createReadiness()', () => {
  const reported = async (...parts: Parameters<typeof createReadiness>) =>
    (await createReadiness(...parts).failures()).map(({ store, reason }) => `${store} ${reason}`);

  it('finds no failure if both stores respond', async () => {
    assert.deepEqual(await reported({ store: fine, blobs: fine }), []);
  });

  it('returns the failing stores with a reason that does not contain the cause', async () => {
    const store = failing(new UnavailableError('connect ECONNREFUSED 10.0.0.7:5432'));
    const blobs = failing(new StorageFullError('/secret/blobs'));
    assert.deepEqual(await reported({ store, blobs }), [
      "metadata store can't be reached, or is too busy",
      'blob store has no room left',
    ]);
    assert.deepEqual(await reported({ store: failing(new Error('password=x')), blobs: fine }), [
      "metadata store can't be used",
    ]);
  });

  it('pings both stores in parallel, with a timeout', async () => {
    assert.deepEqual(await reported({ store: silent, blobs: silent }, 20), [
      'metadata store has not answered for 0.02 seconds',
      'blob store has not answered for 0.02 seconds',
    ]);
  });

  it('distinguishes reads from writes, and caches successful writes for a second', async () => {
    let asked = 0;
    const store = { ...fine, pingWrite: async () => void asked++ };
    const blobs = { ...fine, pingWrite: () => Promise.reject(new StorageFullError('/secret/blobs')) };
    const readiness = createReadiness({ store, blobs });
    assert.deepEqual(await readiness.failures(), []);
    for (let times = 0; times < 3; times++) {
      const reported = (await readiness.writeFailures()).map((failure) => `${failure.store} ${failure.reason}`);
      assert.deepEqual(reported, ['blob store has no room left']);
    }
    assert.equal(asked, 1);
  });

  it('caches a failure for a second, then pings again', async (t) => {
    let nowMs = 5000;
    t.mock.method(performance, 'now', () => nowMs);
    const asked = { ping: 0, pingWrite: 0 };
    const away = (kind: keyof typeof asked) => async () => {
      asked[kind]++;
      throw new UnavailableError('away');
    };
    const readiness = createReadiness({ store: { ping: away('ping'), pingWrite: away('pingWrite') }, blobs: fine });
    for (const times of [1, 2]) {
      for (let count = 0; count < 3; count++) {
        assert.equal((await readiness.failures()).length, 1);
        assert.equal((await readiness.writeFailures()).length, 1);
      }
      assert.deepEqual(asked, { ping: times, pingWrite: times });
      nowMs += 1000;
    }
  });

  it('applies the timeout of the caller to writes', async () => {
    const blobs = { ...fine, pingWrite: silent.ping };
    const readiness = createReadiness({ store: fine, blobs }, 1000);
    const [failure] = await readiness.writeFailures(10);
    assert.equal(failure?.reason, 'has not answered for 0.01 seconds');
    assert.equal((await readiness.writeFailures(10))[0], failure, 'one for all who gave up');
    assert.equal((await readiness.writeFailures(20))[0]?.reason, 'has not answered for 0.02 seconds');
  });

  it('aborts the ping of a blob store that does not respond', async () => {
    let given: AbortSignal | undefined;
    const blobs = {
      ...fine,
      ping(signal?: AbortSignal) {
        given = signal;
        return silent.ping();
      },
    };
    await createReadiness({ store: fine, blobs }, 20).failures();
    assert.equal(given?.aborted, true);
  });

  it('shares a ping between concurrent callers, and pings again afterwards', async () => {
    let asked = 0;
    const store = {
      ...fine,
      async ping() {
        asked++;
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
    const readiness = createReadiness({ store, blobs: fine });
    for (const times of [1, 2]) {
      await Promise.all(Array.from({ length: 50 }, () => readiness.failures()));
      assert.equal(asked, times);
    }
  });
});
