import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';

let world: PluginWorld;
before(async () => {
  world = await createPluginWorld();
});
after(() => world.stop());

type Guest = Awaited<ReturnType<PluginWorld['makeGuest']>>;

/** A second token of a guest's user, and its id. */
async function secondToken({ setting, path }: Guest) {
  const token = await world.line(['token', 'create', 'CI', '--scope', 'read,publish'], setting);
  const environment = { ...setting.environment, TENON_TOKEN: token };
  const { id } = (await world.demand(['whoami', '--json'], { environment })).json().token;
  return { id: String(id), setting: { environment, workingFolder: path } };
}

describe('the minimum age of versions', () => {
  it('holds a version back until the team releases it, with a reason', async () => {
    const guest = await world.makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    const update = ['ext', 'update', '-e', guest.extensionPoint, '--min-version-age'];
    assert.equal((await world.tenon([...update, 'soon'])).exitCode, 2);
    await world.demand([...update, '12h']);
    const point = (await world.demand(['ext', 'show', '-e', guest.extensionPoint, '--json'])).json();
    assert.equal(point.minVersionAgeSeconds, 12 * 3600);
    const second = (await guest.push(2)).stdout.trim();
    assert.equal(await guest.bound(), first);
    assert.match((await guest.plugin('status')).stdout, /state +cooling down\n/);
    const release = ['plugin', 'release', `${guest.id}@2`];
    assert.equal((await world.tenon(release)).exitCode, 2, 'needs a reason');
    const ofGuest = await world.tenon([...release, '--reason', 'Now.'], guest.setting);
    assert.equal(ofGuest.exitCode, 3, 'not by its publisher');
    await world.demand([...release, '--reason', 'It fixes the totals.']);
    assert.equal(await guest.bound(), second);
    assert.equal((await world.tenon([...release, '--reason', 'Again.'])).exitCode, 5);
  });
});

describe('blocked publishers', () => {
  it('are listed, and lose and get back their plugins', async () => {
    const guest = await world.makeGuest();
    const bound = (await guest.push(1)).stdout.trim();
    assert.equal((await world.tenon(['app', 'block-publisher', guest.user])).exitCode, 2, 'needs a reason');
    const unknown = ['app', 'block-publisher', 'usr_none', '--reason', 'x'];
    assert.equal((await world.tenon(unknown)).exitCode, 4);
    const blocked = await world.demand(['app', 'block-publisher', guest.user, '--reason', 'Taken over.']);
    assert.equal(blocked.stderr, `Blocked all plugins of ${guest.guestName}.\n`);
    assert.equal(await guest.bound(), undefined);
    assert.match((await world.demand(['app', 'blocked-publishers'])).stdout, /guest-\d+ +usr_\w+ .*Taken over\./);
    const [listed] = (await world.demand(['app', 'blocked-publishers', '--json'])).json();
    assert.equal(listed.user.id, guest.user);
    const pushed = await world.tenon(['plugin', 'push'], guest.setting);
    assert.equal(pushed.exitCode, 3);
    assert.match(pushed.stderr, /Taken over\./);
    await world.demand(['app', 'unblock-publisher', guest.user]);
    assert.equal(await guest.bound(), bound);
    assert.equal((await world.tenon(['app', 'unblock-publisher', guest.user])).exitCode, 4);
  });
});

describe('what a stolen credential published', () => {
  it('is listed and yanked by the team, after a dry run', async () => {
    const guest = await world.makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    const stolen = await secondToken(guest);
    await guest.push(2);
    await guest.write(moduleOf(3));
    await world.demand(['plugin', 'push'], stolen.setting);
    const selection = ['--credential', stolen.id];
    const listed = await world.demand(['app', 'published', ...selection]);
    assert.match(listed.stdout, /^PLUGIN .*\nsums +3 +published /);
    assert.equal(listed.stdout.trimEnd().split('\n').length, 2);
    const yank = ['app', 'yank-published', ...selection, '--reason', 'Stolen.'];
    const planned = await world.demand([...yank, '--dry-run', '--json']);
    assert.deepEqual([planned.json().versionCount, planned.json().isDryRun], [1, true]);
    assert.equal((await world.tenon(yank)).exitCode, 2, 'needs --yes without a terminal');
    assert.equal((await world.tenon(['plugin', 'status'], stolen.setting)).exitCode, 0);
    const { stderr } = await world.demand([...yank, '--yes']);
    assert.equal(stderr, 'Yanked 1 version of 1 plugin in 1 application, and revokes 1 credential.\n');
    assert.notEqual(await guest.bound(), first, 'version 2 of the own token');
    assert.equal((await world.tenon(['plugin', 'status'], stolen.setting)).exitCode, 3);
    const again = (await world.demand([...yank, '--yes', '--json'])).json();
    assert.deepEqual([again.versionCount, again.revoked], [0, []]);
  });

  it('is yanked by its publisher, who can restore it', async () => {
    const guest = await world.makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    const { id } = await secondToken(guest);
    assert.match((await guest.plugin('published', '--since', '1h', '--user', guest.user)).stdout, /sums +1 +published/);
    assert.match((await guest.plugin('published', '--credential', id)).stderr, /There is no such version/);
    const reason = ['--reason', 'Stolen.', '--yes'];
    assert.equal((await world.tenon(['plugin', 'yank-published', ...reason], guest.setting)).exitCode, 2);
    await guest.plugin('yank-published', '--user', guest.user, ...reason);
    assert.equal(await guest.bound(), undefined);
    await guest.plugin('restore', '@1');
    assert.equal(await guest.bound(), first);
  });

  it('is yanked by the operator', async () => {
    const guest = await world.makeGuest();
    await guest.push(1);
    const selection = ['--user', guest.user];
    assert.match((await world.demand(['admin', 'published', ...selection])).stdout, /sums +1 +published/);
    await world.demand(['admin', 'yank-published', ...selection, '--reason', 'Taken over.', '--yes']);
    assert.equal(await guest.bound(), undefined);
    assert.equal((await world.tenon(['plugin', 'restore', '@1'], guest.setting)).exitCode, 3, 'not by its publisher');
  });
});
