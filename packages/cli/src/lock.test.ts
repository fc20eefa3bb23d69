import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { withLock } from './lock.ts';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-lock-'));
});

after(() => rm(folder, { recursive: true }));

describe('withLock()', () => {
  it('lets one work at a time', async () => {
    const path = join(folder, 'one.lock');
    let atWork = 0;
    const results = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        withLock(path, async () => {
          atWork++;
          await wait(10);
          assert.equal(atWork--, 1);
          return number;
        }),
      ),
    );
    assert.deepEqual(results, [1, 2, 3, 4]);
  });

  it('gives the lock up when the work fails', async () => {
    const path = join(folder, 'fails.lock');
    await assert.rejects(
      withLock(path, async () => assert.fail('no')),
      /no/,
    );
    assert.equal(await withLock(path, async () => 'yes'), 'yes');
  });

  it('is held against another process, and given up when that is killed', async () => {
    const path = join(folder, 'killed.lock');
    const script = `import { withLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
      setInterval(() => {}, 1000);
      await withLock(${JSON.stringify(path)}, () => new Promise(() => console.log('held')));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    let hasEnded = false;
    const ended = once(child, 'exit').then(() => {
      hasEnded = true;
    });
    setTimeout(() => child.kill('SIGKILL'), 200);
    await withLock(path, async () => wait(50)); // the exit may be reported a little later
    await ended;
    assert.equal(hasEnded, true);
    assert.equal(child.signalCode, 'SIGKILL');
  });
});
