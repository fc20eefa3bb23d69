import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import type { PoolTask } from '../../test/helpers/pool-process.ts';
import { createPool, type Pool } from './pool.ts';
import { processWorkers } from './process-worker.ts';

const script = new URL('../../test/helpers/pool-process.ts', import.meta.url);
const open = processWorkers<PoolTask, number>({ script, maxHeapMiB: 64 });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  for (let tries = 0; isAlive(pid); tries++) {
    assert.ok(tries < 1_000, `process ${pid} lives on`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('processWorkers()', () => {
  const pools: Pool<PoolTask, number>[] = [];
  after(() => Promise.all(pools.map((pool) => pool.close())));
  const poolOf = (size: number) => {
    const pool = createPool<PoolTask, number>({ open, size, maxQueued: 4 });
    pools.push(pool);
    return pool;
  };

  it('ends a process in the middle of what the engine validates, and its place is taken until then', async () => {
    const pool = poolOf(1);
    const pid = await pool.run('echo', { timeoutMs: 60_000 });
    await assert.rejects(pool.run('validate', { timeoutMs: 100 }), { code: 'timed_out' });
    assert.equal(pool.running, 1, 'the client is answered, the place is not free yet');
    const next = await pool.run('echo', { timeoutMs: 60_000 });
    assert.ok(!isAlive(pid), 'the next task begins when the process is gone');
    assert.notEqual(next, pid);
  });

  it('gives a process nothing of the environment', async () => {
    assert.equal(await poolOf(1).run('environment', { timeoutMs: 60_000 }), 0);
  });

  it('gives a process no further task once it says that it is spent', async () => {
    const pool = poolOf(1);
    const [first, second] = [
      await pool.run('last', { timeoutMs: 60_000 }),
      await pool.run('echo', { timeoutMs: 60_000 }),
    ];
    assert.notEqual(first, second);
    await untilGone(first);
  });

  for (const task of ['echo', 'validate'] as const) {
    it(`ends with the server, also when that is killed, while it ${task === 'echo' ? 'waits' : 'validates'}`, async () => {
      const code = `
        const { createPool } = await import(${JSON.stringify(new URL('./pool.ts', import.meta.url))});
        const { processWorkers } = await import(${JSON.stringify(new URL('./process-worker.ts', import.meta.url))});
        const open = processWorkers({ script: new URL(${JSON.stringify(script)}), maxHeapMiB: 64 });
        const pool = createPool({ open, size: 1, maxQueued: 4 });
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
      await untilGone(Number(pid));
    });
  }
});
