import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { binary } from './helpers/binary.ts';

/** Runs a program as the first process of a name space of its own, as containers do. */
const asFirst = ['--user', '--map-root-user', '--pid', '--fork'];
const cannot = spawnSync('unshare', [...asFirst, 'true']).status === 0 ? false : 'there is no unshare that may do this';

describe('tenon serve as the first process of a container', { skip: cannot }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-first-process-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('ends at a signal while it waits for its stores', async () => {
    const args = ['serve', '--port', '0', '--data-dir', folder];
    const child = spawn('unshare', [...asFirst, process.execPath, binary, ...args], {
      env: { PATH: process.env.PATH, TENON_DATABASE_URL: 'postgresql://tenon@127.0.0.1:1/none' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    let log = '';
    for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      log += text;
      if (log.includes('waiting for the stores')) break;
    }
    child.stderr.resume();
    const first = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
    process.kill(first, 'SIGTERM');
    assert.deepEqual(await ended, [143, null]); // and not 1, or 3, with which it gives the stores up
  });
});
