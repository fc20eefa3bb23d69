import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder, startServer, type TestServer } from './helpers/server.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';
import { wat } from './helpers/wat.ts';

let server: TestServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let app: string;
let nextName = 1;

before(async () => {
  server = await startServer();
  folder = await makeFolder();
  app = server.environment.TENON_APP_ID ?? '';
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** As the application's owner, unless another environment is given. */
function tenon(args: readonly string[], setting: Setting = {}) {
  return runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, workingFolder: folder.path, ...setting });
}

async function demand(args: readonly string[], setting: Setting = {}) {
  const outcome = await tenon(args, setting);
  assert.equal(outcome.exitCode, 0, `tenon ${args.join(' ')}: ${outcome.stderr}`);
  return outcome;
}

async function line(args: readonly string[], setting: Setting = {}): Promise<string> {
  return (await demand(args, setting)).stdout.trim();
}

/** A guest with a plugin's folder, at an extension point of their own. */
async function makeGuest(schema = 'exports: [run]', { requiresApproval = false } = {}) {
  const guestName = `guest-${nextName++}`;
  const user = await line(['admin', 'create-user', guestName]);
  const token = await line(['admin', 'create-token', user]);
  const extensionPoint = await line(['ext', 'create', guestName, '--schema', '-'], { stdin: schema });
  if (requiresApproval) {
    const response = await fetch(`${server.url}/api/v1/extension-points/${extensionPoint}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.environment.TENON_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ requiresApproval }),
    });
    assert.equal(response.status, 200);
  }
  const environment = { TENON_URL: server.url, TENON_TOKEN: token };
  await demand(['invitation', 'accept', await line(['guest', 'invite', guestName])], { environment });
  const path = join(folder.path, guestName);
  await mkdir(path);
  const toml = `[plugin]\nname = "sums"\nextension-point = "${extensionPoint}"\nmodule = "sums.wasm"\n`;
  await writeFile(join(path, 'tenon.toml'), toml);
  const setting = { environment, workingFolder: path };
  return {
    guestName,
    user,
    extensionPoint,
    path,
    setting,
    id: `${extensionPoint}/plugin/${user}/sums`,
    /** Runs a command where the plugin's tenon.toml is. */
    plugin: (...args: string[]) => demand(['plugin', ...args], setting),
    write: (bytes: Uint8Array) => writeFile(join(path, 'sums.wasm'), bytes),
    /** What a host loads. */
    bound: async () => (await demand(['bindings', extensionPoint, guestName, '--json'])).json().sums?.contentAddress,
    async push(number: number, ...args: string[]) {
      await writeFile(join(path, 'sums.wasm'), moduleOf(number));
      return demand(['plugin', 'push', ...args], setting);
    },
  };
}

/** A module that differs from others by the number that it answers. */
function moduleOf(number: number): Buffer {
  return wat(`(module (func (export "run") (result i32) i32.const ${number}))`);
}

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
    assert.match(elsewhere.stderr, /already: no version was made\. It is bound under 1 guest\./);
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
    const [one] = (await demand(['app', 'show', app, '--json'], guest.setting)).json().guestIds;
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), `${toml}[plugin.publish]\nguest = "${one}"\nnote = "nightly"\n`);
    const { version, guestIds } = (await guest.push(1, '--json')).json();
    assert.deepEqual([version.note, guestIds], ['nightly', [one]]);
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

  it('says that a version awaits approval, and is not bound yet', async () => {
    const guest = await makeGuest('exports: [run]', { requiresApproval: true });
    const { stderr } = await guest.push(1);
    assert.match(stderr, /^Received sums, version 1 .*awaits approval.*Nothing is bound\./);
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
    await writeFile(join(folder.path, 'private.wasm'), moduleOf(1));
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "../private.wasm"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    const { exitCode, stderr } = await tenon(['plugin', 'push'], guest.setting);
    assert.equal(exitCode, 2);
    assert.match(stderr, /leads out of its folder: \.\.\/private\.wasm/);
    await guest.plugin('push', '../private.wasm');
  });

  it("sends no token to a server of tenon.toml's choice", async () => {
    const guest = await makeGuest();
    await guest.write(moduleOf(1));
    await writeFile(join(guest.path, 'tenon.toml'), '[plugin]\nname = "sums"\nserver = "https://evil.example"\n');
    const environment = { TENON_TOKEN: guest.setting.environment.TENON_TOKEN, TENON_DATA_DIR: folder.path };
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
    assert.match((await guest.plugin('rollback', '2')).stderr, /^Rolled sums back to version 2\..* Version 2 is bound/);
    assert.equal(await guest.bound(), addresses[1]);
    assert.match(
      (await guest.plugin('status')).stdout,
      /state +published\n[\s\S]*bound +gst_\w+ {2}version 2, rolled back\n/,
    );

    const yanked = await guest.plugin('yank', '2', '--reason', 'Off by one.');
    assert.match(yanked.stderr, /^Yanked version 2 of sums\. .*Version 3 is bound/);
    assert.equal(await guest.bound(), addresses[2]);
    const { stdout } = await guest.plugin('versions');
    const rows = stdout.trimEnd().split('\n');
    assert.match(rows[0] ?? '', /^VERSION +SEMVER +STATE +BOUND +SIZE +PUBLISHED +CONTENT ADDRESS +NOTE$/);
    assert.match(
      rows[1] ?? '',
      new RegExp(`^3 +1\\.2\\.0 +published +1 guest +\\d+ B +\\S+ \\S+ +${addresses[2]} +the 3$`),
    );
    assert.match(rows[2] ?? '', /^2 +1\.1\.0 +yanked +- .*the 2 · yanked: Off by one\.$/);
    const { json } = await guest.plugin('versions', '--json');
    assert.deepEqual(
      json().map((version: { number: number }) => version.number),
      [3, 2, 1],
    );

    assert.match((await guest.plugin('restore', '2')).stderr, /^Restored version 2 of sums\./);
    assert.match((await guest.plugin('rollback', '3')).stderr, /^sums follows its newest version again\./);
    assert.equal((await tenon(['plugin', 'rollback', '9'], guest.setting)).exitCode, 7);
    assert.equal((await tenon(['plugin', 'rollback', 'two'], guest.setting)).exitCode, 2);
    assert.equal((await tenon(['plugin', 'yank', '1'], guest.setting)).exitCode, 2, 'without a reason');

    assert.equal((await tenon(['plugin', 'delete'], guest.setting)).exitCode, 2);
    assert.equal(await guest.bound(), addresses[2]);
    assert.deepEqual((await guest.plugin('delete', '--yes', '--json')).json(), { deleted: guest.id });
    assert.equal(await guest.bound(), undefined);
    assert.equal((await tenon(['plugin', 'status'], guest.setting)).exitCode, 4);
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
      [['status'], 2, /Which plugin\?/],
      [['status', 'none', '-e', guest.extensionPoint], 4, /no plugin "none"/],
      [['status', 'a b', '-e', guest.extensionPoint], 2, /neither a plugin's name nor its id/],
      [['status', 'a/plugin/b/c'], 2, /is no plugin's id/],
      [['status', '--project', folder.path], 2, /no tenon\.toml in/],
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
    assert.match(
      (await demand(['app', 'approvals'])).stdout,
      new RegExp(`sums +1 +${guest.guestName} .*${guest.id} +please`),
    );
    assert.equal((await tenon(['plugin', 'approve', '1'], guest.setting)).exitCode, 3, 'not by its publisher');
    assert.match((await demand(['plugin', 'approve', '1', guest.id])).stderr, /It is bound under 1 guest now/);
    assert.equal(await guest.bound(), first.stdout.trim());

    await guest.push(2);
    assert.equal((await tenon(['plugin', 'reject', '2', guest.id, '--reason', 'No.'])).exitCode, 2);
    await demand(['plugin', 'reject', '2', guest.id, '--reason', 'Imports a clock.', '--yes']);
    const { stdout } = await guest.plugin('status');
    assert.match(stdout, /state +rejected\nreason +Imports a clock\.\n/);
    assert.match(stdout, /bound +gst_\w+ {2}version 1\n/);
    assert.equal((await tenon(['plugin', 'approve', '2', guest.id])).exitCode, 5);
  });

  it('pin and unpin', async () => {
    const guest = await makeGuest();
    const first = (await guest.push(1)).stdout.trim();
    await demand(['plugin', 'pin', '1', guest.id]);
    const pushed = await guest.push(2);
    assert.match(pushed.stderr, /team holds it at version 1/);
    assert.equal(await guest.bound(), first);
    assert.match((await guest.plugin('status')).stdout, /version 1, pinned by the team/);
    assert.equal((await tenon(['plugin', 'pin', '1', guest.id, '--guest', 'gst_other'])).exitCode, 2);
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
    assert.match((await demand(['plugin', 'unblock', guest.id])).stderr, /is blocked no more/);
    assert.equal(await guest.bound(), first);
  });
});

describe('what a host or a publisher has written', () => {
  it('cannot steer the terminal', async () => {
    const guest = await makeGuest();
    await guest.push(1, '--note', 'a\u001b[2Jb');
    await guest.plugin('yank', '1', '--reason', 'c\u001b]0;title\u0007d');
    for (const command of ['status', 'versions']) {
      const { stdout, stderr } = await guest.plugin(command);
      assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f]/);
      assert.match(stdout, /a\\u\{1b\}\[2Jb/);
    }
  });
});

describe('the build of a tenon.toml', () => {
  const command = `printf '%s|' "$PWD" "$TENON_TOKEN" 'a;b' $(echo c) > said.txt && cp source.wasm sums.wasm`;

  async function makeProject() {
    const guest = await makeGuest();
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\nbuild = """${command}"""\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    await writeFile(join(guest.path, 'source.wasm'), moduleOf(7));
    return { ...guest, said: () => readFile(join(guest.path, 'said.txt'), 'utf8').catch(() => undefined) };
  }

  it('is not run unless somebody says so', async () => {
    const project = await makeProject();
    const { exitCode, stderr } = await tenon(['plugin', 'push'], project.setting);
    assert.deepEqual([exitCode, await project.said()], [2, undefined]);
    assert.ok(stderr.includes(command) && stderr.includes('Add --build'), stderr);
    await project.write(moduleOf(1));
    await project.plugin('push');
    assert.equal(await project.said(), undefined, 'the module is there');
  });

  it('is run by the shell as it stands there, in its folder, without the token', async () => {
    const project = await makeProject();
    const { stderr } = await project.plugin('push', '--build');
    assert.equal(await project.said(), `${project.path}||a;b|c|`);
    assert.ok(stderr.startsWith(`$ ${command}\nBuilt in `), stderr);
  });

  it('keeps a failure from being published', async () => {
    const project = await makeProject();
    await project.write(moduleOf(1));
    const toml = `[plugin]\nname = "sums"\nextension-point = "${project.extensionPoint}"\nmodule = "sums.wasm"\nbuild = "exit 3"\n`;
    await writeFile(join(project.path, 'tenon.toml'), toml);
    const { exitCode, stderr } = await tenon(['plugin', 'push', '--build'], project.setting);
    assert.equal(exitCode, 1);
    assert.match(stderr, /The build ended with 3: exit 3\n.*Nothing was published\./);
    assert.equal(await project.bound(), undefined);
  });

  if (hasScript()) {
    for (const [answer, isRun] of [
      ['y', true],
      ['n', false],
    ] as const) {
      it(`is ${isRun ? '' : 'not '}run after "${answer}" in a terminal`, async () => {
        const project = await makeProject();
        const args = ['plugin', 'push', '--project', project.path];
        const { ended } = inTerminal(args, {
          environment: project.setting.environment,
          replies: [[/this will be run:[\s\S]*cp source\.wasm sums\.wasm[\s\S]*\[y\/N\] /, `${answer}\r`]],
        });
        const { exitCode, screen } = await ended;
        assert.equal(exitCode, isRun ? 0 : 1, screen);
        assert.equal((await project.said()) !== undefined, isRun);
        assert.equal((await project.bound()) !== undefined, isRun);
      });
    }
  }
});
