import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StoreSettings } from '../src/open-stores.ts';
import {
  assertVerifies,
  type CopyGround,
  copy,
  embedded,
  openAsServer,
  openCopyGround,
  refused,
} from './helpers/copies.ts';
import { dump } from './helpers/dump.ts';
import { noPostgres } from './helpers/postgres.ts';

const child = fileURLToPath(new URL('helpers/copy-child.ts', import.meta.url));

/** Copies in a process of its own. @returns whether it killed itself at the point, and did not finish before */
async function copyAndDie(from: StoreSettings, to: StoreSettings, point: number): Promise<boolean> {
  const copier = spawn(process.execPath, [child, JSON.stringify({ from, to }), String(point)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(copier, 'exit');
  assert.ok(signal === 'SIGKILL' || code === 0, `killed at ${point}: ${signal}, ${code}`);
  return signal === 'SIGKILL';
}

describe('copyStore(), killed', { skip: noPostgres }, () => {
  let ground: CopyGround;
  let remote: StoreSettings;
  let number = 100;
  before(async () => {
    ground = await openCopyGround(18);
    remote = await ground.remote();
    await copy(ground.home, remote);
  });
  after(() => ground.close());

  const pairs: readonly [string, () => Promise<[StoreSettings, StoreSettings]>][] = [
    ['from a folder to PostgreSQL and an object store', async () => [ground.home, await ground.remote()]],
    ['from PostgreSQL and an object store to a folder', async () => [remote, embedded(join(ground.folder, 'remote'))]],
    ['from a folder to a folder', async () => [ground.home, embedded(join(ground.folder, 'home'))]],
  ];
  for (const [what, pair] of pairs) {
    it(`${what}, at any point, continues with the next call, and no server opens it before`, async () => {
      const [from, to] = await pair();
      let point = 2; // the first one is before the mark
      for (; await copyAndDie(from, to, point); point += 3) {
        await assert.rejects(openAsServer(to), refused('unfinished_copy'), `at ${point}`);
        if (point % 5 === 0) await ground.workshop.publish(number++);
      }
      assert.ok(point > 60, 'many points');
      await openAsServer(to);
      await assertVerifies(to);
      assert.deepEqual(await dump(to), await dump(from));
    });
  }
});
