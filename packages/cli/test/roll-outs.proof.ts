import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint, Guest, RollOut } from '@tenon/protocol';
import { createPluginWorld, type PluginWorld } from './helpers/plugin-world.ts';

describe('tenon roll-out', () => {
  let world: PluginWorld;
  let guest: Awaited<ReturnType<PluginWorld['makeGuest']>>;

  before(async () => {
    world = await createPluginWorld();
    guest = await world.makeGuest('exports: [run]', { requiresApproval: true });
    for (const key of ['a', 'b', 'c']) {
      const link = await world.line(['guest', 'invite', key]);
      await world.demand(['invitation', 'accept', link], guest.setting);
    }
    await guest.push(1);
    await world.demand(['plugin', 'approve', `${guest.id}@1`]);
  });
  after(() => world.stop());

  const rollOut = (...args: string[]) => world.tenon(['roll-out', ...args]);
  const shown = async (version: string) => (await rollOut('show', version, '--json')).json() as RollOut;

  it('has examples for each command', async () => {
    for (const command of ['list', 'show', 'pause', 'resume', 'promote', 'abort']) {
      const { exitCode, stdout } = await rollOut(command, '--help');
      assert.equal(exitCode, 0);
      assert.match(stdout, new RegExp(`Examples:\\n  \\$ tenon roll-out ${command}`));
    }
  });

  it('puts a guest in a ring', async () => {
    await world.demand(['guest', 'set', guest.guestName, '--ring', 'staff']);
    assert.match((await world.demand(['guest', 'list'])).stdout, new RegExp(`${guest.guestName} +- +staff `));
    const refused = await world.tenon(['guest', 'set', 'a', '--ring', 'a b']);
    assert.equal(refused.exitCode, 7, refused.stderr);
    assert.match(refused.stderr, /ring/);
    await world.demand(['guest', 'set', 'a', '--ring', 'early']);
    const removed = (await world.demand(['guest', 'set', 'a', '--ring', '', '--json'])).json() as Guest;
    assert.equal(removed.ring, null);
  });

  it('plans at the approval, pauses, resumes, and promotes', async () => {
    const version = `${guest.id}@2`;
    await guest.push(2);
    const wrong = await world.tenon(['plugin', 'approve', version, '--roll-out', '10%:1h,5%']);
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /Step 2, "5%": the percentage must be more than the 10% before it/);
    assert.equal((await rollOut('show', version)).exitCode, 4);

    const plan = ['--roll-out', 'ring:staff:1h,100%:1d', '--halt', 'errors=2%,calls=3'];
    const approved = await world.demand(['plugin', 'approve', version, ...plan]);
    assert.match(approved.stderr, /active for 1 guest now/);
    const started = await shown(version);
    assert.deepEqual(
      [started.state, started.step, started.steps, started.reachedGuests, started.totalGuests, started.previousVersion],
      ['running', 0, 2, 1, 4, 1],
    );
    const { stdout } = await rollOut('show', version);
    assert.match(stdout, /steps +ring:staff:1h,100%:1d/);
    assert.match(stdout, /halt +errors=2%,calls=3/);
    assert.match(stdout, /step +step 1 of 2: ring:staff:1h/);
    assert.match(stdout, /guests +1 of 4 guests/);
    assert.match(stdout, /waits for +reports: 0 of 3 calls/);
    assert.match((await rollOut('list', '--state', 'open')).stdout, /sums +2 +running +step 1 of 2 +1 of 4 guests/);
    assert.match((await rollOut('list', '--state', 'aborted')).stderr, /There are no roll-outs/);
    assert.equal((await rollOut('list', '--state', 'started')).exitCode, 2);

    assert.match((await rollOut('pause', version)).stderr, /Paused version 2 of sums: paused, step 1 of 2, 1 of 4/);
    assert.equal((await rollOut('pause', version)).exitCode, 5);
    assert.equal((await shown(version)).nextStepAt, null);
    assert.match((await rollOut('resume', version)).stderr, /Resumed version 2 of sums: running/);
    assert.equal((await rollOut('resume', version)).exitCode, 5);
    assert.match((await rollOut('promote', version)).stderr, /running, step 2 of 2, 4 of 4 guests/);
    const promoted = (await rollOut('promote', version, '--full', '--json')).json() as RollOut;
    assert.deepEqual([promoted.state, promoted.endedAt === null], ['completed', false]);
    assert.equal((await rollOut('promote', version)).exitCode, 5);
  });

  it('aborts, and restores for all guests', async () => {
    const version = `${guest.id}@3`;
    await guest.push(3);
    await world.demand(['plugin', 'approve', version, '--roll-out', 'ring:staff']);
    assert.equal((await rollOut('abort', version)).exitCode, 2);
    const aborted = await rollOut('abort', version, '--reason', 'Rounds down');
    assert.equal(aborted.exitCode, 0, aborted.stderr);
    assert.match(aborted.stderr, /Aborted version 3 of sums: aborted, step 1 of 1, 0 of 4 guests/);
    assert.match((await rollOut('show', version)).stdout, /reason +Rounds down/);
    assert.match((await world.demand(['plugin', 'versions', guest.id])).stdout, /3 +- +yanked/);
    assert.equal((await rollOut('abort', version, '--reason', 'Again')).exitCode, 5);
    await world.demand(['plugin', 'restore', version, '--roll-out', 'all']);
    const after = await world.demand(['plugin', 'versions', guest.id, '--json']);
    const [newest] = after.json() as { boundGuestIds: string[] }[];
    assert.equal(newest?.boundGuestIds.length, 4);
  });

  it('follows the default plan of the extension point', async () => {
    const update = (...args: string[]) => world.tenon(['ext', 'update', '-e', guest.extensionPoint, ...args]);
    assert.equal((await update('--halt', 'errors=2%')).exitCode, 2);
    assert.equal((await update('--roll-out', 'ring:staff:1h', '--halt', 'p95=1.5x')).exitCode, 0);
    const { stdout } = await world.demand(['ext', 'show', '-e', guest.extensionPoint]);
    assert.match(stdout, /roll-out +ring:staff:1h\nhalt +p95=1\.5x,calls=20/);
    await guest.push(4);
    await world.demand(['plugin', 'approve', `${guest.id}@4`]);
    assert.equal((await shown(`${guest.id}@4`)).state, 'running');
    const changed = (await update('--roll-out', 'all', '--json')).json() as ExtensionPoint;
    assert.equal(changed.rollOut, null);
  });

  it('says what it may not do', async () => {
    const refused = await world.tenon(['roll-out', 'promote', `${guest.id}@4`], guest.setting);
    assert.equal(refused.exitCode, 3, refused.stderr);
    const own = (await world.demand(['roll-out', 'show', `${guest.id}@4`, '--json'], guest.setting)).json() as RollOut;
    assert.deepEqual([own.state, own.plan], ['running', null]);
    assert.equal((await world.tenon(['roll-out', 'list'], guest.setting)).exitCode, 3);
    assert.equal((await rollOut('show', `${guest.id}@9`)).exitCode, 4);
  });

  it('is completed', async () => {
    const offered = async (...words: string[]) =>
      (await world.demand(['completion', '--', ...words])).stdout.split('\n').map((line) => line.split('\t')[0]);
    assert.deepEqual((await offered('roll-out', 'pro')).slice(0, 1), ['promote']);
    assert.deepEqual((await offered('roll-out', 'list', '--state', 'ha')).slice(0, 1), ['halted']);
    assert.ok((await offered('roll-out', 'show', '-e', guest.extensionPoint, 'sums@')).includes('sums@4'));
    assert.ok((await offered('plugin', 'approve', '--ro')).includes('--roll-out'));
  });
});
