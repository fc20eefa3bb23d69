import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { until } from '../../../../test/helpers/until.ts';
import type { PoolTask as Task } from '../../test/helpers/pool-process.ts';
import { createPool, type Pool, type RunOptions, type StartWorker } from './pool.ts';
import { processWorkers } from './process-worker.ts';
import { threadWorkers } from './thread-worker.ts';

/** The main module of a thread that runs {@link Task}s and responds with its thread id. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', (task) => {
    if (task === 'spin') for (;;);
    if (task === 'crash') throw new Error('deliberate crash');
    if (task === 'exit') process.exit(3);
    if (task === 'hoard') for (const all = []; ; ) all.push(new Array(1e5).fill(0).map((_, at) => ({ at })));
    parentPort.postMessage(threadId);
  });
`)}`,
);

const processScript = new URL('../../test/helpers/pool-process.ts', import.meta.url);
const kinds: Record<string, (maxHeapMiB: number) => StartWorker<Task, number>> = {
  threads: (maxHeapMiB) => threadWorkers({ script, maxHeapMiB }),
  processes: (maxHeapMiB) => processWorkers({ script: processScript, maxHeapMiB }),
};

const longTimeout: RunOptions = { timeoutMs: 30_000 };

for (const [kind, workersOf] of Object.entries(kinds)) {
  describe(`createPool() of ${kind}`, () => {
    const pools: Pool<Task, number>[] = [];
    after(() => Promise.all(pools.map((pool) => pool.close())));
    const open = (size: number, maxQueued: number, maxHeapMiB = 64) => {
      const pool = createPool<Task, number>({ startWorker: workersOf(maxHeapMiB), size, maxQueued });
      pools.push(pool);
      return pool;
    };

    it('runs tasks in as many workers as configured', async () => {
      const pool = open(2, 10);
      const threads = await Promise.all([...Array(8).keys()].map(() => pool.run('echo', longTimeout)));
      assert.equal(new Set(threads).size, 2);
    });

    it('rejects a task when the queue is full', async () => {
      const pool = open(1, 1);
      const controller = new AbortController();
      const spinning = pool.run('spin', { ...longTimeout, signal: controller.signal });
      const waiting = pool.run('echo', longTimeout);
      await assert.rejects(pool.run('echo', longTimeout), { code: 'queue_full' });
      controller.abort();
      await assert.rejects(spinning, { code: 'aborted' });
      await waiting;
    });

    it('removes a queued task whose client disconnects', async () => {
      const pool = open(1, 1);
      const spinner = new AbortController();
      const spinning = pool.run('spin', { ...longTimeout, signal: spinner.signal });
      const waiter = new AbortController();
      const waiting = pool.run('echo', { ...longTimeout, signal: waiter.signal });
      assert.equal(pool.queued, 1);
      waiter.abort();
      await assert.rejects(waiting, { code: 'aborted' });
      assert.equal(pool.queued, 0);
      spinner.abort();
      await assert.rejects(spinning, { code: 'aborted' });
      assert.ok((await pool.run('echo', longTimeout)) > 0);
    });

    it('terminates a task that times out, and continues with another worker', async () => {
      const pool = open(1, 4);
      const first = await pool.run('echo', longTimeout);
      await assert.rejects(pool.run('spin', { ...longTimeout, timeoutMs: 50 }), { code: 'timed_out' });
      assert.notEqual(await pool.run('echo', longTimeout), first);
    });

    it('gives no task to a worker that is terminated while its result is in transit', async () => {
      const pool = open(1, 4);
      const first = await pool.run('echo', longTimeout);
      const controller = new AbortController();
      const answered = pool.run('echo', { ...longTimeout, signal: controller.signal });
      // Blocks the event loop, so that the result has arrived but is unread when the client disconnects.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      controller.abort();
      await assert.rejects(answered, { code: 'aborted' });
      await new Promise((resolve) => setTimeout(resolve, 20)); // time for the result to be read
      assert.notEqual(await pool.run('echo', { ...longTimeout, timeoutMs: 5_000 }), first);
    });

    it('reports and replaces a worker that crashes, exits or runs out of memory', async () => {
      const pool = open(1, 4, 24);
      await assert.rejects(pool.run('crash', longTimeout), { code: 'crashed' });
      await assert.rejects(pool.run('exit', longTimeout), { code: 'crashed' });
      await assert.rejects(pool.run('hoard', longTimeout), { code: 'out_of_memory' });
      assert.ok((await pool.run('echo', longTimeout)) > 0);
    });

    /** Tasks of one caller that keep all workers busy until they are aborted. */
    const flood = (pool: Pool<Task, number>, caller: string, count: number) => {
      const controller = new AbortController();
      const spinning = Array.from({ length: count }, () => {
        return pool.run('spin', { ...longTimeout, caller, signal: controller.signal }).catch((error) => error.code);
      });
      return {
        spinning,
        async end() {
          controller.abort();
          return Promise.all(spinning);
        },
      };
    };

    it('adds a worker for other callers when one caller occupies all workers and the queue', async () => {
      const pool = open(2, 4);
      const loud = flood(pool, 'loud', 6);
      assert.equal(pool.running, 2);
      const answered = await Promise.all(['a', 'b', 'c'].map((caller) => pool.run('echo', { ...longTimeout, caller })));
      assert.equal(answered.length, 3);
      assert.deepEqual([pool.running, pool.queued], [2, 2]); // the other callers displaced two tasks
      assert.deepEqual((await loud.end()).sort(), [
        'aborted',
        'aborted',
        'aborted',
        'aborted',
        'queue_full',
        'queue_full',
      ]);
    });

    it('gives the additional worker only to a caller that has none', async () => {
      const pool = open(2, 10);
      const loud = flood(pool, 'loud', 2);
      const [first, second] = [flood(pool, 'first', 2), flood(pool, 'second', 1)];
      assert.deepEqual([pool.running, pool.queued], [3, 2]);
      await Promise.all([first.end(), second.end(), loud.end()]);
      await until(() => pool.running === 0);
      assert.equal(pool.queued, 0);
      const threads = await Promise.all(
        Array.from({ length: 10 }, () => pool.run('echo', { ...longTimeout, caller: 'loud' })),
      );
      assert.ok(new Set(threads).size <= 2, 'a single caller gets no additional worker');
    });

    it('starts spare workers from the first task on, or when it is asked to', async () => {
      let started = 0;
      const startWorker: StartWorker<Task, number> = (events) => {
        started++;
        return workersOf(64)(events);
      };
      const pool = createPool<Task, number>({ startWorker, size: 2, maxQueued: 4, spares: 1 });
      pools.push(pool);
      assert.equal(started, 0);
      pool.warm();
      pool.warm();
      assert.deepEqual([started, pool.running], [1, 0]);
      const running = pool.run('echo', longTimeout);
      assert.deepEqual([started, pool.running], [2, 1], 'the spare runs the task, and another one starts');
      await running;
      await pool.close();
      pool.warm();
      assert.equal(started, 2);
    });

    it('fails the tasks whose worker cannot start, and runs later ones', async () => {
      let isFull = false;
      const startWorker: StartWorker<Task, number> = (events) => {
        if (isFull) throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
        return workersOf(64)(events);
      };
      const pool = createPool<Task, number>({ startWorker, size: 1, maxQueued: 4, spares: 1 });
      pools.push(pool);
      isFull = true;
      pool.warm();
      await assert.rejects(pool.run('echo', longTimeout), { code: 'crashed', message: 'The worker could not start' });
      isFull = false;
      assert.ok((await pool.run('echo', longTimeout)) > 0);
      const crashing = pool.run('crash', longTimeout);
      const waiting = pool.run('crash', longTimeout); // takes the spare
      const last = pool.run('echo', longTimeout);
      isFull = true;
      for (const task of [crashing, waiting, last]) await assert.rejects(task, { code: 'crashed' });
      isFull = false;
      assert.ok((await pool.run('echo', longTimeout)) > 0);
      assert.deepEqual([pool.running, pool.queued], [0, 0]);
    });

    it('starts no task that is already aborted, and none after close()', async () => {
      const pool = open(1, 4);
      await assert.rejects(pool.run('echo', { ...longTimeout, signal: AbortSignal.abort() }), { code: 'aborted' });
      const running = pool.run('spin', longTimeout);
      const waiting = pool.run('echo', longTimeout);
      const both = Promise.all([
        assert.rejects(running, { code: 'closed' }),
        assert.rejects(waiting, { code: 'closed' }),
      ]);
      await pool.close();
      await both;
      await assert.rejects(pool.run('echo', longTimeout), { code: 'closed' });
    });
  });
}
