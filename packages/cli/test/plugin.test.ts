import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';
import { wat } from './helpers/wat.ts';

let world: PluginWorld;
const tenon: PluginWorld['tenon'] = (...args) => world.tenon(...args);
const demand: PluginWorld['demand'] = (...args) => world.demand(...args);
const line: PluginWorld['line'] = (...args) => world.line(...args);
const makeGuest: PluginWorld['makeGuest'] = (...args) => world.makeGuest(...args);

before(async () => {
  world = await createPluginWorld();
});

after(() => world.stop());

describe('tenon plugin push', () => {
  it('publishes what tenon.toml names, from any folder below it', async () => {
    const guest = await makeGuest();
    const first = await guest.push(1);
    assert.match(first.stderr, /^Published sums, version 1 \(\d+ B\), under 1 guest\.\n$/);
    assert.equal(await guest.bound(), first.stdout.trim());
    const deeper = join(guest.path, 'src', 'deep');
    await mkdir(deeper, { recursive: true });
    const again = await demand(['plugin', 'push', '--json'], { ...guest.setting, workingFolder: deeper });
    assert.deepEqual([again.json().isNewVersion, again.json().id], [false, guest.id]);
    const elsewhere = await demand(['plugin', 'push', '--project', guest.path], {
      environment: guest.setting.environment,
    });
    assert.match(elsewhere.stderr, /already: no version was made\. It is active for 1 guest\./);
  });

  it('lets options go before tenon.toml', async () => {
    const guest = await makeGuest();
    const other = await line(['ext', 'create', 'Other']);
    await guest.write(moduleOf(1));
    const { json } = await guest.plugin(
      'push',
      '--name',
      'other',
      '-e',
      other,
      '--semver',
      '1.2.0',
      '--note',
      'x',
      '--json',
    );
    assert.deepEqual([json().name, json().extensionPointId], ['other', other]);
    assert.deepEqual([json().version.semver, json().version.note], ['1.2.0', 'x']);
    await writeFile(join(guest.path, 'given.wasm'), moduleOf(2));
    assert.equal((await guest.plugin('push', 'given.wasm', '--json')).json().version.number, 1);
  });

  it('takes guest and note from tenon.toml', async () => {
    const guest = await makeGuest();
    await demand(['invitation', 'accept', await line(['guest', 'invite', `${guest.guestName}-b`])], guest.setting);
    const [{ id: one }] = (await demand(['app', 'show', '--app', world.app, '--json'], guest.setting)).json().guests;
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), `${toml}[plugin.publish]\nguest = "${one}"\nnote = "nightly"\n`);
    const { version, guestIds } = (await guest.push(1, '--json')).json();
    assert.deepEqual([version.note, guestIds], ['nightly', [one]]);
  });

  it('publishes description, homepage and README of tenon.toml, once, and never a file from outside', async () => {
    const guest = await makeGuest();
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\n`;
    const settle = (...lines: readonly string[]) => writeFile(join(guest.path, 'tenon.toml'), toml + lines.join('\n'));
    await settle('description = "Adds up."', 'homepage = "https://sums.example"', 'readme = "README.md"');
    await guest.write(moduleOf(1));
    assert.match(
      (await tenon(['plugin', 'push'], guest.setting)).stderr,
      /Cannot read the README/,
      'nothing is published before it is found',
    );
    await writeFile(join(guest.path, 'README.md'), '# Sums\n');
    assert.match((await guest.push(1)).stderr, /Published sums, version 1.*\nUpdated its description\.\n$/s);
    assert.doesNotMatch((await guest.push(1)).stderr, /Updated/);
    const { description, homepage } = (await guest.push(2, '--json')).json();
    assert.deepEqual([description, homepage], ['Adds up.', 'https://sums.example/']);
    const { stdout } = await guest.plugin('status');
    assert.match(stdout, /\ndescription +Adds up\.\nhomepage +https:\/\/sums\.example\/\n/);
    await writeFile(join(guest.path, '..', 'outside.md'), 'secret');
    await settle('readme = "../outside.md"');
    assert.match(
      (await tenon(['plugin', 'push'], guest.setting)).stderr,
      /The README that tenon.toml names is outside of its folder/,
    );
    for (const [content, message] of [
      [Buffer.alloc(65_537, 0x61), /larger than the 64 KiB/],
      [Buffer.from([0xff]), /is not UTF-8/],
      [Buffer.alloc(0), /is empty/],
    ] as const) {
      await settle('readme = "README.md"');
      await writeFile(join(guest.path, 'README.md'), content);
      assert.match((await tenon(['plugin', 'push'], guest.setting)).stderr, message);
    }
    await settle('homepage = "javascript:alert(1)"');
    assert.match(
      (await tenon(['plugin', 'push'], guest.setting)).stderr,
      /"plugin.homepage" expects an https or http URL/,
    );
  });

  it('lists what a module lacks, one a line, with the name that was meant', async () => {
    const guest = await makeGuest('exports: [run, close]\n');
    const text = '(module (import "extism:host/user" "clock" (func)) (func (export "runn")) (func (export "closed")))';
    await guest.write(wat(text));
    const refused = await tenon(['plugin', 'push'], guest.setting);
    assert.equal(refused.exitCode, 7);
    const lines = refused.stderr.split('\n');
    assert.match(lines[0] ?? '', /does not fit the extension point\. Nothing was published\.$/);
    assert.deepEqual(lines.slice(1, 4), [
      '  The module does not export the function "run"; it exports "runn".',
      '  The module does not export the function "close"; it exports "closed".',
      '  The module imports "clock" from "extism:host/user", which the extension point does not offer.',
    ]);
    const { error } = JSON.parse((await tenon(['plugin', 'push', '--json'], guest.setting)).stderr);
    assert.deepEqual([error.code, error.problem.errors.length], ['interface_mismatch', 3]);
  });

  it('shows with --dry-run what would happen, and publishes nothing', async () => {
    const guest = await makeGuest('exports: [run]');
    await guest.write(moduleOf(1));
    const first = await guest.plugin('push', '--dry-run');
    assert.match(
      first.stderr,
      /^Dry run: sums would become version 1 \(\d+ B\), under 1 guest\. Nothing was published\.\n$/,
    );
    assert.equal((await tenon(['plugin', 'status'], guest.setting)).exitCode, 4);
    const { stdout } = await guest.push(1);
    assert.equal(stdout, first.stdout);
    assert.match(
      (await guest.plugin('push', '--dry-run')).stderr,
      /^Dry run: nothing would be published\..*no version was made/,
    );
    await guest.write(moduleOf(2));
    const { version, isNewVersion, guestIds } = (await guest.plugin('push', '--dry-run', '--json')).json();
    assert.deepEqual([version.number, version.state, isNewVersion, guestIds.length], [2, 'published', true, 1]);
    assert.equal(await guest.bound(), stdout.trim());
  });

  it('ends a dry run as a publish would end', async () => {
    const guest = await makeGuest('exports: [run]', { requiresApproval: true });
    await guest.write(moduleOf(1));
    assert.match(
      (await guest.plugin('push', '--dry-run')).stderr,
      /version 1 \(\d+ B\), and would wait for approval\. Nothing/,
    );
    await guest.write(wat('(module)'));
    const refusals = [
      await tenon(['plugin', 'push', '--dry-run'], guest.setting),
      await tenon(['plugin', 'push'], guest.setting),
    ];
    assert.deepEqual(
      refusals.map(({ exitCode }) => exitCode),
      [7, 7],
    );
    assert.equal(refusals[0]?.stderr, refusals[1]?.stderr);
    const hidden = await tenon(['plugin', 'push', '--dry-run', '-e', 'ext_00000000000000000000000000'], guest.setting);
    assert.equal(hidden.exitCode, 4);
  });

  it('says that a version awaits approval, and is not bound yet', async () => {
    const guest = await makeGuest('exports: [run]', { requiresApproval: true });
    const { stderr } = await guest.push(1);
    assert.match(stderr, /^Received sums, version 1 .*awaits approval.*Active for no guest\./);
    assert.match((await guest.plugin('push')).stderr, /no version was made\. Version 1 awaits approval/);
  });

  it('says where a tenon.toml is wrong, and warns of what means nothing', async () => {
    const guest = await makeGuest();
    await guest.write(moduleOf(1));
    await writeFile(join(guest.path, 'tenon.toml'), '[plugin]\nname = 3\n');
    const wrong = await tenon(['plugin', 'push'], guest.setting);
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /^error: tenon\.toml, line 2, column 1: "plugin\.name" expects text/);
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodul = "x"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    const { stderr } = await guest.plugin('push', 'sums.wasm');
    assert.match(
      stderr,
      /^warning: tenon\.toml, line 4, column 1: "plugin\.modul" means nothing here; did you mean "plugin\.module"\?/,
    );
  });

  it('uploads nothing from outside of the folder because a tenon.toml says so', async () => {
    const guest = await makeGuest();
    await writeFile(join(world.folder.path, 'private.wasm'), moduleOf(1));
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "../private.wasm"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    const { exitCode, stderr } = await tenon(['plugin', 'push'], guest.setting);
    assert.equal(exitCode, 2);
    assert.match(stderr, /is outside of its folder: \.\.\/private\.wasm/);
    await guest.plugin('push', '../private.wasm');
  });

  it("sends no token to a server of tenon.toml's choice", async () => {
    const guest = await makeGuest();
    await guest.write(moduleOf(1));
    await writeFile(join(guest.path, 'tenon.toml'), '[plugin]\nname = "sums"\nserver = "https://evil.example"\n');
    const environment = { TENON_TOKEN: guest.setting.environment.TENON_TOKEN, TENON_DATA_DIR: world.folder.path };
    const { exitCode, stderr } = await tenon(['plugin', 'push'], { ...guest.setting, environment });
    assert.equal(exitCode, 3);
    assert.match(stderr, /no access token for https:\/\/evil\.example, the server in tenon\.toml/);
  });
});

describe('tenon plugin status, versions, rollback, yank, restore and delete', () => {
  it('show and change what is bound', async () => {
    const guest = await makeGuest();
    const addresses: string[] = [];
    for (const [at, number] of [1, 2, 3].entries()) {
      addresses.push((await guest.push(number, '--semver', `1.${at}.0`, '--note', `the ${number}`)).stdout.trim());
    }
    assert.match(
      (await guest.plugin('rollback', '@2')).stderr,
      /^Rolled sums back to version 2\..* Version 2 is active/,
    );
    assert.equal(await guest.bound(), addresses[1]);
    assert.match(
      (await guest.plugin('status')).stdout,
      /state +published\n[\s\S]*bound +gst_\w+ {2}version 2, rolled back\n/,
    );

    const yanked = await guest.plugin('yank', '@2', '--reason', 'Off by one.');
    assert.match(yanked.stderr, /^Yanked version 2 of sums\. .*Version 3 is active/);
    assert.equal(await guest.bound(), addresses[2]);
    const { stdout } = await guest.plugin('versions');
    const rows = stdout.trimEnd().split('\n');
    assert.match(rows[0] ?? '', /^VERSION +SEMVER +STATE +VERDICT +BOUND +SIZE +PUBLISHED +CONTENT ADDRESS +NOTE$/);
    assert.match(
      rows[1] ?? '',
      new RegExp(`^3 +1\\.2\\.0 +published +- +1 guest +\\d+ B +\\S+ \\S+ +${addresses[2]} +the 3$`),
    );
    assert.match(rows[2] ?? '', /^2 +1\.1\.0 +yanked +- .*the 2 · yanked: Off by one\.$/);
    const repository = new RegExp(`^OCI repository: localhost:\\d+/app_\\w+/${guest.id.replace('/plugin', '')}$`, 'm');
    assert.match((await guest.plugin('versions')).stderr, repository);
    const { json } = await guest.plugin('versions', '--json');
    assert.deepEqual(
      json().map((version: { number: number }) => version.number),
      [3, 2, 1],
    );

    assert.match((await guest.plugin('restore', '@2')).stderr, /^Restored version 2 of sums\./);
    assert.match((await guest.plugin('rollback', '@3')).stderr, /^sums follows its newest version again\./);
    const unknown = await tenon(['plugin', 'rollback', '@9'], guest.setting);
    const hint = `To see its versions: tenon plugin versions ${guest.id}`;
    assert.deepEqual([unknown.exitCode, unknown.stderr], [7, `error: sums has no version 9.\n${hint}\n`]);
    const absent = await tenon(['plugin', 'rollback', 'fx@9'], guest.setting);
    assert.equal(absent.exitCode, 4);
    assert.ok(absent.stderr.includes(`"fx" at ${guest.guestName} (${guest.extensionPoint}, from tenon.toml)`));
    assert.equal((await tenon(['plugin', 'rollback', '@two'], guest.setting)).exitCode, 2);
    assert.equal((await tenon(['plugin', 'rollback', 'sums@0'], guest.setting)).exitCode, 2);
    assert.match((await guest.plugin('rollback', 'sums@3')).stderr, /^sums follows its newest version again\./);
    assert.equal((await tenon(['plugin', 'yank', '@1'], guest.setting)).exitCode, 2, 'without a reason');

    assert.equal((await tenon(['plugin', 'delete'], guest.setting)).exitCode, 2);
    assert.equal(await guest.bound(), addresses[2]);
    assert.deepEqual((await guest.plugin('delete', '--yes', '--json')).json(), { deleted: guest.id });
    assert.equal(await guest.bound(), undefined);
    assert.equal((await tenon(['plugin', 'status'], guest.setting)).exitCode, 4);
  });

  it('name guests by their keys to the team, and by their ids to guests', async () => {
    const guest = await makeGuest();
    await guest.push(1);
    assert.match(await line(['plugin', 'status', guest.id]), new RegExp(`^bound +${guest.guestName}  version 1$`, 'm'));
    assert.match((await guest.plugin('status')).stdout, /^bound +gst_\w+ {2}version 1$/m);
  });

  it('name the newest version as OCI clients do', async () => {
    const guest = await makeGuest();
    await guest.push(1, '--semver', '1.0.0+a');
    const { oci } = (await guest.plugin('status', '--json')).json();
    const { stdout } = await guest.plugin('status');
    assert.ok(stdout.includes(`OCI reference    ${oci.repository}:1.0.0_a\n`), stdout);
    assert.ok(stdout.includes(` ${oci.repository}@${oci.digest}\n`), stdout);
    assert.deepEqual((await guest.plugin('versions', '--json')).json()[0].oci, oci);
    await line(['plugin', 'block', guest.id, '--reason', 'x']);
    assert.ok((await guest.plugin('status')).stdout.includes(`OCI reference    ${oci.repository}@sha256:`));
  });

  it('find a plugin by its name, its id, or tenon.toml', async () => {
    const guest = await makeGuest();
    await guest.push(1);
    const away = { environment: guest.setting.environment };
    assert.equal((await demand(['plugin', 'status', guest.id, '--json'], away)).json().id, guest.id);
    assert.equal(
      (await demand(['plugin', 'status', 'sums', '-e', guest.extensionPoint, '--json'])).json().id,
      guest.id,
    );
    for (const [args, exitCode, message] of [
      [['status'], 2, /No plugin is named/],
      [['status', 'none', '-e', guest.extensionPoint], 4, /no plugin "none"/],
      [['status', 'a b', '-e', guest.extensionPoint], 2, /neither a plugin's name nor its id/],
      [['status', 'a/plugin/b/c'], 2, /is not a plugin id/],
      [['status', '--project', world.folder.path], 2, /no tenon\.toml in/],
    ] as const) {
      const outcome = await tenon(['plugin', ...args], away);
      assert.deepEqual([outcome.exitCode, message.test(outcome.stderr)], [exitCode, true], outcome.stderr);
    }
  });

  it('ask which one where two users publish under one name', async () => {
    const [first, second] = [await makeGuest(), await makeGuest()];
    await first.push(1);
    await second.write(moduleOf(2));
    await second.plugin('push', '-e', first.extensionPoint);
    const { exitCode, stderr } = await tenon(['plugin', 'block', 'sums', '-e', first.extensionPoint, '--reason', 'x']);
    assert.equal(exitCode, 2);
    assert.ok(stderr.includes(first.id) && stderr.includes(second.user), stderr);
    await first.plugin('status');
  });
});

describe('what a host or a publisher has written', () => {
  it('cannot steer the terminal', async () => {
    const guest = await makeGuest();
    await guest.push(1, '--note', 'a\u001b[2Jb');
    await guest.plugin('yank', '@1', '--reason', 'c\u001b]0;title\u0007d');
    for (const command of ['status', 'versions']) {
      const { stdout, stderr } = await guest.plugin(command);
      assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f]/);
      assert.match(stdout, /a\\u\{1b\}\[2Jb/);
    }
  });
});
