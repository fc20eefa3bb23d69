import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import { availableProtections, sandboxOptions } from '../src/simulations/sandbox.ts';
import { createPool, type Pool } from '../src/workers/pool.ts';
import { processWorkers, type UntrustedOptions } from '../src/workers/process-worker.ts';
import type { EscapeAttempt } from './helpers/escaped-process.ts';

const MiB = 2 ** 20;
const script = new URL('./helpers/escaped-process.ts', import.meta.url);
const maxMessageBytes = 2 * MiB;
const limits = { memoryBytes: 64 * MiB, timeoutMs: 10_000, maxModuleBytes: 16 * MiB };
const protections = availableProtections();

/** Where processes may write before they confine themselves. */
const cache = mkdtempSync(join(tmpdir(), 'tenon-cache-'));

function open(changes: Partial<UntrustedOptions> = {}): Pool<EscapeAttempt, unknown> {
  const untrusted = {
    ...sandboxOptions(
      limits,
      maxMessageBytes,
      () => {},
      () => cache,
    ),
    ...changes,
  };
  const startWorker = processWorkers<EscapeAttempt, unknown>({ script, maxHeapMiB: 64, untrusted });
  return createPool({ startWorker, size: 2, maxQueued: 200, spares: 1 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Starts a process that sleeps, and a spare. Resolves when these have loaded their modules, and have confined themselves. */
async function startConfined() {
  const controller = new AbortController();
  const pids: number[] = [];
  let confined = 0;
  const watching = open({
    limit(pid, started) {
      pids.push(pid);
      return sandboxOptions(limits, maxMessageBytes, () => {}).limit(pid, started);
    },
    onConfined: () => confined++,
  });
  const running = watching.run({ name: 'sleep' }, { timeoutMs: 20_000, signal: controller.signal });
  await until(() => confined > 0 && confined === pids.length, { message: 'no process was confined' });
  return {
    pids,
    async end() {
      controller.abort();
      await assert.rejects(running, { code: 'aborted' });
      await watching.close();
    },
  };
}

describe('JavaScript that has escaped into the process of a simulation', () => {
  let pool: Pool<EscapeAttempt, unknown>;
  let folder: string;
  let secret: string;
  let accepted = 0;
  const target = createServer((socket) => {
    accepted++;
    socket.destroy();
  });
  let port: number;
  before(async () => {
    pool = open();
    folder = mkdtempSync(join(tmpdir(), 'tenon-data-'));
    secret = join(folder, 'tenon.db');
    writeFileSync(secret, 'secret');
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    ({ port } = target.address() as AddressInfo);
  });
  after(async () => {
    await pool.close();
    target.close();
    for (const each of [folder, cache]) rmSync(each, { recursive: true });
  });

  const attempt = (name: EscapeAttempt['name'], argument?: string | number, from = pool, timeoutMs = 20_000) =>
    from.run(argument === undefined ? { name } : { name, argument }, { timeoutMs });

  it('has no rights to files, processes, threads, and the engine', async () => {
    const own = new URL('../src/server.ts', import.meta.url).pathname;
    const attempts: readonly (readonly [EscapeAttempt['name'], (string | number)?])[] = [
      ['read', secret],
      ['read', own],
      ['read', '/etc/passwd'],
      ['read', `/proc/${process.pid}/environ`],
      ['read', '/proc/self/environ'],
      ['read', '/dev/stdin'],
      ['list', '/proc/self/fd'],
      ['list', folder],
      ['stat', secret],
      ['readLink', '/proc/self/exe'],
      ['write', join(folder, 'new')],
      ['write', join(cache, 'new')],
      ['write', '/dev/shm/new'],
      ['remove', secret],
      ['changeFolder', folder],
      ['run', 'id'],
      ['spawn', '/bin/true'],
      ['fork', own],
      ['thread'],
      ['listen'],
      ['inspect'],
      ['wasi'],
      ['snapshot'],
      ['load', own],
      ['binding'],
    ];
    const results = await Promise.all(attempts.map(([name, argument]) => attempt(name, argument)));
    assert.deepEqual(
      results.map((result, at) => [...(attempts[at] ?? []), result]),
      attempts.map((one) => [...one, 'ERR_ACCESS_DENIED']),
    );
    assert.equal(readFileSync(secret, 'utf8'), 'secret');
    assert.equal(await attempt('addon', '/tmp/none.node'), 'ERR_DLOPEN_DISABLED');
    assert.match(String(await attempt('evaluate', 'return 1')), /Code generation from strings disallowed/);
    assert.equal(await attempt('granted'), 'got ');
    assert.equal(await attempt('environment'), 'got {}');
  });

  it('reaches no network', async () => {
    for (const [name, argument] of [
      ['connect', port],
      ['connectSocket', join(folder, 'socket')],
      ['fetch', `http://127.0.0.1:${port}/`],
      ['datagram', port],
    ] as const) {
      assert.doesNotMatch(String(await attempt(name, argument)), /connected|sent|^\d+$/, name);
    }
    assert.equal(accepted, 0);
  });

  it('reaches neither files nor network by the permission model alone', async () => {
    const unlimited = open({ limit: async () => false });
    try {
      assert.equal(await attempt('connect', port, unlimited), 'ERR_ACCESS_DENIED');
      assert.equal(await attempt('fetch', `http://127.0.0.1:${port}/`, unlimited), 'ERR_ACCESS_DENIED');
      assert.equal(await attempt('datagram', port, unlimited), 'ERR_ACCESS_DENIED');
      assert.equal(accepted, 0);
    } finally {
      await unlimited.close();
    }
  });

  it('cannot signal the server, nor get back what it gave up', async () => {
    assert.equal(await attempt('signal', process.pid), 'process.kill is not a function');
    if (protections.includes('user')) {
      const [first, second] = [String(await attempt('user')), String(await attempt('user'))];
      for (const user of [first, second]) assert.match(user, /^got (\d{5,}):\1$/);
      assert.equal(await attempt('becomeRoot'), 'EPERM');
    }
    assert.notEqual(await attempt('raisePriority'), 'got undefined');
  });

  it('has only pipes and sockets to the server open', { skip: !existsSync('/proc/self/fd') }, async () => {
    const { pids, end } = await startConfined();
    const open = pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)),
    );
    await end();
    assert.ok(open.length > 4);
    for (const target of open) assert.match(target, /^(?:pipe:|socket:|anon_inode:|\/dev\/null$)/);
  });

  it('has limits that it cannot raise', { skip: !protections.includes('limits') }, async () => {
    const { pids, end } = await startConfined();
    const text = readFileSync(`/proc/${pids[0]}/limits`, 'utf8');
    await end();
    for (const name of ['file size', 'core file size', 'processes', 'open files', 'locked memory']) {
      assert.match(text, new RegExp(`^Max ${name} +0 +0 `, 'm'));
    }
    assert.match(text, /^Max cpu time +50 +50 /m);
    assert.doesNotMatch(text, /^Max data size +unlimited/m);
  });

  it('does not run, and the server goes on, if it cannot be limited', async () => {
    const pids: number[] = [];
    const refused = open({
      limit: async (pid) => {
        pids.push(pid);
        throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
      },
    });
    const task = refused.run({ name: 'sleep' }, { timeoutMs: 20_000 });
    await assert.rejects(task, { code: 'crashed', message: 'The worker process could not be limited' });
    await refused.close();
    assert.ok(pids.length > 0);
    assert.deepEqual(pids.filter(isAlive), []);
  });

  it('is killed at its time limit, whatever it does', async () => {
    for (const name of ['loop', 'sleep', 'writeErrors'] as const) {
      const startedAtMs = performance.now();
      await assert.rejects(attempt(name, undefined, pool, 300), { code: 'timed_out' });
      assert.ok(performance.now() - startedAtMs < 15_000, name);
    }
  });

  it('gets no more memory than its limit', async () => {
    await assert.rejects(attempt('exhaustHeap'), { code: 'out_of_memory' });
    assert.equal(await attempt('growMemory', 1024), 'got 1');
    assert.match(String(await attempt('growMemory', 1025)), /Unable to grow/);
    if (!protections.includes('limits')) return;
    assert.match(String(await attempt('exhaustBuffers')), /allocation failed/);
    const [, total] = /^got (\d+)$/.exec(String(await attempt('exhaustMemories'))) ?? [];
    assert.ok(Number(total) < 320, `${total} MiB`); // 64 for memories, 128 for the heap, 64 for modules, and what was free before
  });

  it('can crash only itself', async () => {
    assert.match(String(await attempt('recurse')), /call stack/);
    await assert.rejects(attempt('exit', 3), { code: 'crashed' });
    await assert.rejects(attempt('abort'), { code: 'crashed' });
    assert.match(String(await attempt('pid')), /^got \d+$/);
  });

  it('cannot make the server allocate or fail by what it sends', async () => {
    const before = process.memoryUsage().rss;
    for (const [name, argument] of [
      ['returnMuch'],
      ['writeEndlessly'],
      ['writeBytes', Buffer.from(new Uint32Array([2 ** 32 - 1, 2 ** 32 - 1]).buffer).toString('base64')],
      ['writeBytes', Buffer.from(new Uint32Array([0, 2 ** 28]).buffer).toString('base64')],
      ['writeBytes', Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7b, 0x7b, 0x7b]).toString('base64')],
      ['writeBytes', Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from('null')]).toString('base64')],
    ] as const) {
      await assert.rejects(
        attempt(name, argument),
        { code: 'crashed', message: /invalid message/ },
        `${name} ${argument}`,
      );
    }
    assert.ok(process.memoryUsage().rss - before < 64 * MiB);
  });

  it('runs one task, and no other process sees its state', async () => {
    const pids = await Promise.all(Array.from({ length: 6 }, () => attempt('pid')));
    assert.equal(new Set(pids).size, 6);
    for (const pid of pids) await until(() => !isAlive(Number(String(pid).slice(4))), { message: 'still alive' });
  });

  for (const name of ['sleep', 'loop'] as const) {
    it(`ends with the server that is killed while it ${name}s`, async () => {
      const url = (path: string) => JSON.stringify(new URL(path, import.meta.url));
      const code = `
        const { createPool } = await import(${url('../src/workers/pool.ts')});
        const { processWorkers } = await import(${url('../src/workers/process-worker.ts')});
        const { sandboxOptions } = await import(${url('../src/simulations/sandbox.ts')});
        const options = sandboxOptions(${JSON.stringify(limits)}, 1000, () => {});
        let pid;
        const limit = (of, started) => options.limit((pid = of), started);
        const untrusted = { ...options, limit };
        const startWorker = processWorkers({ script: new URL(${JSON.stringify(script)}), maxHeapMiB: 64, untrusted });
        const pool = createPool({ startWorker, size: 1, maxQueued: 4 });
        void pool.run({ name: '${name}' }, { timeoutMs: 600_000 });
        while (pool.running === 0 || pid === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
        setTimeout(() => process.stdout.write(String(pid)), 500);
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
