import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { it } from 'node:test';
import { statements } from '../../queries.ts';
import { openSqliteStore } from './store.ts';

const skip = existsSync('/proc/locks') ? false : 'this system does not tell of locks';

/** Whether this process has a lock on a file: https://man7.org/linux/man-pages/man5/proc_locks.5.html */
function hasLock(file: string): boolean {
  const { ino } = statSync(file);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
}

it('a second store in one process keeps the locks of the first', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-locks-'));
  const file = join(folder, 'tenon.db');
  try {
    const first = await openSqliteStore(statements, { file });
    assert.ok(hasLock(file));
    const second = await openSqliteStore(statements, { file });
    assert.ok(hasLock(file), 'another process may take itself for the last one now, and the log away');
    await second.close();
    assert.ok(hasLock(file));
    await first.close();
    assert.ok(!hasLock(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
