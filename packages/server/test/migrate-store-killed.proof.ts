import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { migrateSteps } from '../src/migrate-store/migrate-store.ts';
import { thawStore } from '../src/migrate-store/thaw.ts';
import type { StoreSettings } from '../src/open-stores.ts';
import { dump } from './helpers/dump.ts';
import { demandWhole, type MoveGround, move, openMoveGround, refused, takesChanges } from './helpers/moves.ts';
import { noPostgres } from './helpers/postgres.ts';

const child = fileURLToPath(new URL('helpers/migrate-store-child.ts', import.meta.url));

/** Moves in a process of its own, which kills itself before a step. */
async function moveAndDie(from: StoreSettings, to: StoreSettings, step: string): Promise<void> {
  const mover = spawn(process.execPath, [child, JSON.stringify({ from, to }), step], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = await once(mover, 'exit');
  assert.equal(signal, 'SIGKILL', `killed before ${step}`);
}

describe('migrateStore(), killed', { skip: noPostgres }, () => {
  let ground: MoveGround;
  before(async () => {
    ground = await openMoveGround(18);
  });
  after(() => ground.close());

  it('before any step, never leaves both taking changes, and goes on when it is called again', async () => {
    const [from, to] = [ground.home, await ground.remote()];
    const isFrozenBefore: Record<string, boolean> = {};
    for (const step of migrateSteps) {
      await moveAndDie(from, to, step);
      assert.equal(await takesChanges(to), false, `the target before ${step}`);
      isFrozenBefore[step] = !(await takesChanges(from));
      if (step === 'copy_rest') await assert.rejects(thawStore({ store: to }), refused('arriving'));
      if (step === 'compare') assert.equal(await thawStore({ store: from }), true, 'the way out');
      if (step === 'open') await assert.rejects(thawStore({ store: from }), refused('moved'));
    }
    assert.deepEqual(isFrozenBefore, {
      copy_contents: false,
      copy_tables: false,
      freeze: false,
      copy_rest: true,
      compare: true,
      hand_over: true,
      open: true,
    });
    await move(from, to);
    assert.deepEqual(await dump(to), await dump(from));
    await demandWhole(to);
    assert.deepEqual([await takesChanges(from), await takesChanges(to)], [false, true]);
    await assert.rejects(move(from, to), refused('moved'));
  });
});
