import assert from 'node:assert/strict';
import { type SpawnOptionsWithStdioTuple, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./helpers/serve-child.ts', import.meta.url));

/** Longer than every timer of the server but those that run once an hour, and than the delay of the first garbage collection. */
const startMs = 62_000;
const idleMs = 62_000;

const canTrace = spawnSync('strace', ['-f', '-e', 'trace=fsync', 'true']).status === 0;

/** Sizes and times of all files below a folder, but for the index of the log, which is shared memory of SQLite. */
async function stampsOf(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('-shm'),
  );
  const stamps = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const { size, mtimeMs } = await stat(path);
      return [path, `${size} ${mtimeMs}`] as const;
    }),
  );
  return Object.fromEntries(stamps.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

describe('an idle server on the embedded store', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-idle-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('writes nothing to disk for a minute', async (deps) => {
    const dataDir = join(folder, 'data');
    const calls = join(folder, 'calls');
    const options: SpawnOptionsWithStdioTuple<'ignore', 'pipe', 'ignore'> = {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    };
    const serving = [process.execPath, script, dataDir];
    const traced = ['-f', '-ttt', '-e', 'trace=fsync,fdatasync,pwrite64', '-o', calls, ...serving];
    const [command = '', ...args] = canTrace ? ['strace', ...traced] : serving;
    const child = spawn(command, args, options);
    deps.after(() => process.kill(-Number(child.pid), 'SIGKILL')); // the tracer and the server
    await once(child.stdout, 'data');
    await sleep(startMs);
    const [before, sinceMs] = [await stampsOf(dataDir), Date.now()];
    await sleep(idleMs);
    const untilMs = Date.now();
    assert.deepEqual(await stampsOf(dataDir), before);
    if (!canTrace) return;
    const lines = (await readFile(calls, 'utf8')).split('\n').filter((line) => line !== '');
    assert.ok(
      lines.some((line) => line.includes('fsync')),
      'the start was traced',
    );
    const idle = lines.filter((line) => {
      const atMs = Number(/^\d+ +([\d.]+)/.exec(line)?.[1]) * 1000;
      return atMs >= sinceMs && atMs <= untilMs && /fsync|fdatasync|pwrite64/.test(line);
    });
    assert.deepEqual(idle, []);
  });
});
