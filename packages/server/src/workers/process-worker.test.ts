import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import { until } from '../../../../test/helpers/until.ts';
import type { PoolTask } from '../../test/helpers/pool-process.ts';
import { createPool, type Pool } from './pool.ts';
import { processWorkers } from './process-worker.ts';

const script = new URL('../../test/helpers/pool-process.ts', import.meta.url);
const startWorker = processWorkers<PoolTask, number>({ script, maxHeapMiB: 64 });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('processWorkers()', () => {
  const pools: Pool<PoolTask, number>[] = [];
  after(() => Promise.all(pools.map((pool) => pool.close())));
  const poolOf = (size: number) => {
    const pool = createPool<PoolTask, number>({ startWorker, size, maxQueued: 4 });
    pools.push(pool);
    return pool;
  };

  it('kills a process while V8 validates, and counts it as running until it has exited', async () => {
    const pool = poolOf(1);
    const pid = await pool.run('echo', { timeoutMs: 60_000 });
    await assert.rejects(pool.run('validate', { timeoutMs: 100 }), { code: 'timed_out' });
    assert.equal(pool.running, 1, 'the task has failed, the process has not exited yet');
    const next = await pool.run('echo', { timeoutMs: 60_000 });
    assert.ok(!isAlive(pid), 'the next task starts after the process has exited');
    assert.notEqual(next, pid);
  });

  it("starts processes without the server's environment", async () => {
    process.env.TENON_SECRET = 'secret';
    assert.equal(await poolOf(1).run('environment', { timeoutMs: 60_000 }), 0);
  });

  it('replaces a process that asks to be recycled', async () => {
    const pool = poolOf(1);
    const [first, second] = [
      await pool.run('last', { timeoutMs: 60_000 }),
      await pool.run('echo', { timeoutMs: 60_000 }),
    ];
    assert.notEqual(first, second);
    await until(() => !isAlive(first), { message: 'the process is still alive' });
  });

  for (const task of ['echo', 'validate'] as const) {
    it(`a process that ${task === 'echo' ? 'waits' : 'validates'} exits when the server is killed`, async () => {
      const code = `
        const { createPool } = await import(${JSON.stringify(new URL('./pool.ts', import.meta.url))});
        const { processWorkers } = await import(${JSON.stringify(new URL('./process-worker.ts', import.meta.url))});
        const startWorker = processWorkers({ script: new URL(${JSON.stringify(script)}), maxHeapMiB: 64 });
        const pool = createPool({ startWorker, size: 1, maxQueued: 4 });
        const pid = await pool.run('echo', { timeoutMs: 60_000 });
        void pool.run('${task}', { timeoutMs: 600_000 });
        setTimeout(() => process.stdout.write(String(pid)), 200);
        setInterval(() => {}, 1_000);
      `;
      const server = spawn(process.execPath, ['--input-type=module', '--eval', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [pid] = await once(server.stdout, 'data');
      assert.ok(isAlive(Number(pid)));
      server.kill('SIGKILL');
      await until(() => !isAlive(Number(pid)), { message: 'the process is still alive' });
    });
  }
});
