import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';

let world: PluginWorld;
const tenon: PluginWorld['tenon'] = (...args) => world.tenon(...args);
const demand: PluginWorld['demand'] = (...args) => world.demand(...args);
const makeGuest: PluginWorld['makeGuest'] = (...args) => world.makeGuest(...args);

before(async () => {
  world = await createPluginWorld();
});

after(() => world.stop());

describe("the team's commands", () => {
  it('approve and reject what awaits it', async () => {
    const guest = await makeGuest('exports: [run]', { requiresApproval: true });
    const first = await guest.push(1, '--note', 'please');
    const waiting = (await demand(['app', 'approvals', '--json'])).json();
    const own = waiting.filter((entry: { pluginId: string }) => entry.pluginId === guest.id);
    assert.deepEqual(
      own.map((entry: { version: { number: number } }) => entry.version.number),
      [1],
    );
    const approvals = await demand(['app', 'approvals']);
    assert.match(approvals.stdout, new RegExp(`sums +1 +${guest.guestName} .*${guest.id} +please`));
    assert.equal(approvals.stderr, `To approve the first: tenon plugin approve ${guest.id}@1\n`);
    const elsewhere = { environment: { ...world.server.quickstart } };
    const missing = await tenon(['plugin', 'approve', 'sums@1'], elsewhere);
    const point = `Greetings (${world.server.quickstart.TENON_EXTENSION_POINT_ID}, from TENON_EXTENSION_POINT_ID)`;
    assert.equal(missing.exitCode, 4);
    assert.ok(missing.stderr.includes(`There is no plugin "sums" at ${point}`), missing.stderr);
    assert.match(missing.stderr, /--extension-point/);
    assert.equal((await tenon(['plugin', 'approve', '@1'], guest.setting)).exitCode, 3, 'not by its publisher');
    assert.match((await demand(['plugin', 'approve', `${guest.id}@1`])).stderr, /It is active for 1 guest now/);
    assert.equal(await guest.bound(), first.stdout.trim());

    await guest.push(2);
    assert.equal((await tenon(['plugin', 'reject', `${guest.id}@2`, '--reason', 'No.'])).exitCode, 2);
    await demand(['plugin', 'reject', `${guest.id}@2`, '--reason', 'Imports a clock.', '--yes']);
    const { stdout } = await guest.plugin('status');
    assert.match(stdout, /state +rejected\nreason +Imports a clock\.\n/);
    assert.match(stdout, /bound +gst_\w+ {2}version 1\n/);
    assert.equal((await tenon(['plugin', 'approve', `${guest.id}@2`])).exitCode, 5);
  });

  it('compare versions', async () => {
    const guest = await makeGuest();
    await guest.push(1);
    const alone = await demand(['plugin', 'diff', `${guest.id}@1`]);
    assert.equal(alone.stderr, 'No other version is bound.\n');
    assert.match(alone.stdout, /\nExports\nNAME +TYPE\nrun +\(\) → \(i32\)\n/);
    await guest.push(200);
    const diff = await guest.plugin('diff', '@1');
    assert.equal(diff.stderr, 'Compared with version 2.\n');
    assert.match(diff.stdout, /\nchanged +run +5 B → 4 B\n/);
    const { against, functions } = (await guest.plugin('diff', '@2', '--against', '1', '--json')).json();
    assert.deepEqual([against, functions.changed.total], [1, 1]);
    assert.equal((await tenon(['plugin', 'diff', `${guest.id}@1`, '--against', '7'])).exitCode, 4);
    assert.equal((await tenon(['plugin', 'diff', `${guest.id}@1`, '--against', '0'])).exitCode, 2);
  });

  it('pin and unpin', async () => {
    const guest = await makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    await demand(['plugin', 'pin', `${guest.id}@1`]);
    const pushed = await guest.push(2);
    assert.match(pushed.stderr, /team holds it at version 1/);
    assert.equal(await guest.bound(), first);
    assert.match((await guest.plugin('status')).stdout, /version 1, pinned by the team/);
    assert.equal((await tenon(['plugin', 'pin', `${guest.id}@1`, '--guest', 'gst_other'])).exitCode, 4);
    await guest.plugin('yank', '@1', '--reason', 'Off by one.');
    assert.match((await guest.plugin('status')).stdout, /nothing, pinned to version 1 by the team/);
    const [{ guestId }] = (await guest.plugin('status', '--json')).json().status.bindings;
    await demand(['plugin', 'unpin', guest.id, '--guest', guestId]);
    assert.equal(await guest.bound(), pushed.stdout.trim());
  });

  it('block and unblock', async () => {
    const guest = await makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    assert.match(
      (await demand(['plugin', 'block', guest.id, '--reason', 'Leaks.'])).stderr,
      /^Blocked sums\. .*“Leaks\.”/,
    );
    assert.equal(await guest.bound(), undefined);
    assert.match((await guest.plugin('status')).stdout, /state +blocked\nreason +Leaks\.\n/);
    await guest.write(moduleOf(2));
    const refused = await tenon(['plugin', 'push', '--json'], guest.setting);
    assert.deepEqual([refused.exitCode, JSON.parse(refused.stderr).error.code], [3, 'plugin_blocked']);
    assert.match((await demand(['plugin', 'unblock', guest.id])).stderr, /^Unblocked sums\./);
    assert.equal(await guest.bound(), first);
  });
});

describe('tenon extension-point withdrawals', () => {
  it('lists what a deleted plugin left withdrawn, and gives it back', async () => {
    const guest = await makeGuest();
    const address = (await guest.push(1)).stdout.trim();
    await demand(['plugin', 'yank', `${guest.id}@1`, '--reason', 'Leaks.']);
    assert.equal((await guest.plugin('delete', '--yes')).exitCode, 0);
    await guest.write(moduleOf(1));
    const refused = await tenon(['plugin', 'push', '--json'], guest.setting);
    assert.equal(JSON.parse(refused.stderr).error.code, 'conflict');
    const at = ['--extension-point', guest.extensionPoint];
    assert.match(
      (await demand(['ext', 'withdrawals', ...at])).stdout,
      new RegExp(`^${address} .*yanked.*Leaks\\.$`, 'm'),
    );
    const [left] = (await demand(['ext', 'withdrawals', ...at, '--json'])).json();
    await demand(['ext', 'end-withdrawal', left.user.id, address, ...at, '--yes']);
    assert.deepEqual((await demand(['ext', 'withdrawals', ...at, '--json'])).json(), []);
    await demand(['plugin', 'push', '--json'], guest.setting);
    assert.equal(await guest.bound(), address);
  });
});

describe('tenon extension-point update', () => {
  it('changes what is taken, and keeps what is not said', async () => {
    const { extensionPoint } = await makeGuest();
    const update = (...args: string[]) => demand(['ext', 'update', '-e', extensionPoint, ...args, '--json']);
    const args = [
      '--max-module-size',
      '2MiB',
      '--max-memory-pages',
      '32',
      '--proposals',
      'simd, bulk-memory',
      '--no-wasi',
    ];
    const { limits, requiresApproval } = (await update(...args, '--requires-approval')).json();
    assert.deepEqual(limits, {
      maxModuleBytes: 2 * 1024 * 1024,
      maxInitialMemoryPages: 32,
      proposals: ['simd', 'bulk-memory'],
      allowWasi: false,
    });
    assert.equal(requiresApproval, true);
    const { stdout } = await demand(['ext', 'show', '-e', extensionPoint]);
    assert.match(
      stdout,
      /new versions +wait for the team's approval\nminimum age +none\nmodule size +at most 2\.0 MiB\n/,
    );
    assert.match(stdout, /memory +at most 32 pages at the start\nproposals +simd, bulk-memory\nWASI +not allowed\n/);

    assert.deepEqual((await update('--max-module-size', 'any', '--proposals', 'none')).json().limits, {
      maxModuleBytes: null,
      maxInitialMemoryPages: 32,
      proposals: [],
      allowWasi: false,
    });
    const open = (
      await update('--no-requires-approval', '--wasi', '--proposals', 'all', '--max-memory-pages', 'any')
    ).json();
    assert.deepEqual([open.requiresApproval, Object.values(open.limits)], [false, [null, null, null, true]]);
    for (const wrong of [['--proposals', 'smid'], ['--max-module-size', '2GB'], ['--max-memory-pages', '-1'], []]) {
      assert.equal((await tenon(['ext', 'update', '-e', extensionPoint, ...wrong])).exitCode, 2, wrong.join(' '));
    }
  });
});
