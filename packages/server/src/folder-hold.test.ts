import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { it } from 'node:test';
import { holdFolder } from './folder-hold.ts';

const hold = `import { holdFolder } from ${JSON.stringify(new URL('./folder-hold.ts', import.meta.url).href)};
globalThis.hold = holdFolder(process.argv[1]);
console.log(globalThis.hold === undefined ? 'no' : 'yes');
setInterval(() => {}, 1000);`;

it('holdFolder() gives a folder to one server, until it releases the folder or is killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-hold-'));
  t.after(() => rm(folder, { recursive: true }));
  const first = holdFolder(folder);
  assert.ok(first);
  assert.equal(holdFolder(folder), undefined, 'in the same process');

  const start = () =>
    spawn(process.execPath, ['--input-type=module', '-e', hold, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const answerOf = async (child: ReturnType<typeof start>) => String((await once(child.stdout, 'data'))[0]).trim();
  const second = start();
  assert.equal(await answerOf(second), 'no');
  second.kill('SIGKILL');

  first.release();
  assert.ok(!existsSync(join(folder, 'server.lock')));
  const third = start();
  assert.equal(await answerOf(third), 'yes');
  assert.equal(holdFolder(folder), undefined);
  third.kill('SIGKILL');
  await once(third, 'exit');
  const fourth = holdFolder(folder);
  assert.ok(fourth, 'a killed process holds nothing');
  fourth.release();
});
