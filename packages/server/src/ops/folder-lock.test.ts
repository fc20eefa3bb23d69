import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { it } from 'node:test';
import { lockFolder } from './folder-lock.ts';

const script = `import { lockFolder } from ${JSON.stringify(new URL('./folder-lock.ts', import.meta.url).href)};
globalThis.lock = lockFolder(process.argv[1]);
console.log(globalThis.lock === undefined ? 'no' : 'yes');
setInterval(() => {}, 1000);`;

it('lockFolder() locks a folder for one server, until it releases the lock or is killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-lock-'));
  t.after(() => rm(folder, { recursive: true }));
  const first = lockFolder(folder);
  assert.ok(first);
  assert.equal(lockFolder(folder), undefined, 'in the same process');

  const start = () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const answerOf = async (child: ReturnType<typeof start>) => String((await once(child.stdout, 'data'))[0]).trim();
  const second = start();
  assert.equal(await answerOf(second), 'no');
  second.kill('SIGKILL');

  first.release();
  assert.ok(!existsSync(join(folder, 'server.lock')));
  const third = start();
  assert.equal(await answerOf(third), 'yes');
  assert.equal(lockFolder(folder), undefined);
  third.kill('SIGKILL');
  await once(third, 'exit');
  const fourth = lockFolder(folder);
  assert.ok(fourth, 'a killed process holds no lock');
  fourth.release();
});
