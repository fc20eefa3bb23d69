import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { PoolTask as Task } from '../../test/helpers/pool-process.ts';
import { createPool, type OpenWorker, type Pool, type RunOptions } from './pool.ts';
import { processWorkers } from './process-worker.ts';
import { threadWorkers } from './thread-worker.ts';

/** A worker that does as it is told, with a thread id to tell threads apart. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', (task) => {
    if (task === 'spin') for (;;);
    if (task === 'crash') throw new Error('as told');
    if (task === 'exit') process.exit(3);
    if (task === 'hoard') for (const all = []; ; ) all.push(new Array(1e5).fill(0).map((_, at) => ({ at })));
    parentPort.postMessage(threadId);
  });
`)}`,
);

const processScript = new URL('../../test/helpers/pool-process.ts', import.meta.url);
const kinds: Record<string, (maxHeapMiB: number) => OpenWorker<Task, number>> = {
  threads: (maxHeapMiB) => threadWorkers({ script, maxHeapMiB }),
  processes: (maxHeapMiB) => processWorkers({ script: processScript, maxHeapMiB }),
};

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    assert.ok(tries < 1_000, 'it never comes to be so');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const patient: RunOptions = { timeoutMs: 30_000 };

for (const [kind, workersOf] of Object.entries(kinds)) {
  describe(`createPool() of ${kind}`, () => {
    const pools: Pool<Task, number>[] = [];
    after(() => Promise.all(pools.map((pool) => pool.close())));
    const open = (size: number, maxQueued: number, maxHeapMiB = 64) => {
      const pool = createPool<Task, number>({ open: workersOf(maxHeapMiB), size, maxQueued });
      pools.push(pool);
      return pool;
    };

    it('runs tasks, in as many threads as it has', async () => {
      const pool = open(2, 10);
      const threads = await Promise.all([...Array(8).keys()].map(() => pool.run('echo', patient)));
      assert.equal(new Set(threads).size, 2);
    });

    it('refuses what the queue has no room for', async () => {
      const pool = open(1, 1);
      const controller = new AbortController();
      const spinning = pool.run('spin', { ...patient, signal: controller.signal });
      const waiting = pool.run('echo', patient);
      await assert.rejects(pool.run('echo', patient), { code: 'queue_full' });
      controller.abort();
      await assert.rejects(spinning, { code: 'aborted' });
      await waiting;
    });

    it('frees the place of a task whose client goes away while it waits', async () => {
      const pool = open(1, 1);
      const spinner = new AbortController();
      const spinning = pool.run('spin', { ...patient, signal: spinner.signal });
      const waiter = new AbortController();
      const waiting = pool.run('echo', { ...patient, signal: waiter.signal });
      assert.equal(pool.queued, 1);
      waiter.abort();
      await assert.rejects(waiting, { code: 'aborted' });
      assert.equal(pool.queued, 0);
      spinner.abort();
      await assert.rejects(spinning, { code: 'aborted' });
      assert.ok((await pool.run('echo', patient)) > 0);
    });

    it('ends a task whose time is up, and works on with another thread', async () => {
      const pool = open(1, 4);
      const first = await pool.run('echo', patient);
      await assert.rejects(pool.run('spin', { ...patient, timeoutMs: 50 }), { code: 'timed_out' });
      assert.notEqual(await pool.run('echo', patient), first);
    });

    it('gives no task to a thread that was ended while its answer was under way', async () => {
      const pool = open(1, 4);
      const first = await pool.run('echo', patient);
      const controller = new AbortController();
      const answered = pool.run('echo', { ...patient, signal: controller.signal });
      // Nothing else runs here meanwhile, so the answer lies there, unread, when the client goes away.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      controller.abort();
      await assert.rejects(answered, { code: 'aborted' });
      await new Promise((resolve) => setTimeout(resolve, 20)); // whatever it still says is heard by now
      assert.notEqual(await pool.run('echo', { ...patient, timeoutMs: 5_000 }), first);
    });

    it('tells of a thread that crashes, ends or takes too much memory, and replaces it', async () => {
      const pool = open(1, 4, 24);
      await assert.rejects(pool.run('crash', patient), { code: 'crashed' });
      await assert.rejects(pool.run('exit', patient), { code: 'crashed' });
      await assert.rejects(pool.run('hoard', patient), { code: 'out_of_memory' });
      assert.ok((await pool.run('echo', patient)) > 0);
    });

    /** Tasks of one caller that keep all threads busy until they are given up. */
    const flood = (pool: Pool<Task, number>, caller: string, count: number) => {
      const controller = new AbortController();
      const spinning = Array.from({ length: count }, () => {
        return pool.run('spin', { ...patient, caller, signal: controller.signal }).catch((error) => error.code);
      });
      return {
        spinning,
        async end() {
          controller.abort();
          return Promise.all(spinning);
        },
      };
    };

    it('has a thread for others when one caller has all, and more that wait', async () => {
      const pool = open(2, 4);
      const loud = flood(pool, 'loud', 6);
      assert.equal(pool.running, 2);
      const answered = await Promise.all(['a', 'b', 'c'].map((caller) => pool.run('echo', { ...patient, caller })));
      assert.equal(answered.length, 3);
      assert.deepEqual([pool.running, pool.queued], [2, 2]); // two gave way to those who came when there was no room
      assert.deepEqual((await loud.end()).sort(), [
        'aborted',
        'aborted',
        'aborted',
        'aborted',
        'queue_full',
        'queue_full',
      ]);
    });

    it('gives that thread to nobody who has others', async () => {
      const pool = open(2, 10);
      const loud = flood(pool, 'loud', 2);
      const [first, second] = [flood(pool, 'first', 2), flood(pool, 'second', 1)];
      assert.deepEqual([pool.running, pool.queued], [3, 2]);
      await Promise.all([first.end(), second.end(), loud.end()]);
      await until(() => pool.running === 0);
      assert.equal(pool.queued, 0);
      const threads = await Promise.all(
        Array.from({ length: 10 }, () => pool.run('echo', { ...patient, caller: 'loud' })),
      );
      assert.ok(new Set(threads).size <= 2, 'one caller alone has as many as there are');
    });

    it('does not begin what is given up already, nor anything once it is closed', async () => {
      const pool = open(1, 4);
      await assert.rejects(pool.run('echo', { ...patient, signal: AbortSignal.abort() }), { code: 'aborted' });
      const running = pool.run('spin', patient);
      const waiting = pool.run('echo', patient);
      const both = Promise.all([
        assert.rejects(running, { code: 'closed' }),
        assert.rejects(waiting, { code: 'closed' }),
      ]);
      await pool.close();
      await both;
      await assert.rejects(pool.run('echo', patient), { code: 'closed' });
    });
  });
}
