import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';

let world: PluginWorld;
let guest: Awaited<ReturnType<PluginWorld['makeGuest']>>;

before(async () => {
  world = await createPluginWorld();
  guest = await world.makeGuest();
});
after(() => world.stop());

/** On a machine with a browser, which notes what it opens. */
async function opening(args: readonly string[], setting: Setting) {
  const opened: string[] = [];
  const outcome = await runTenon(args, {
    ...setting,
    platform: 'darwin',
    openBrowser: async (url) => void opened.push(url),
  });
  return { ...outcome, opened };
}

const anywhere = (): Setting => ({ environment: { TENON_URL: world.server.url }, workingFolder: world.folder.path });
const urlOf = async (args: readonly string[], setting: Setting) => {
  const { exitCode, stdout, stderr } = await runTenon([...args, '--print'], setting);
  assert.equal(exitCode, 0, stderr);
  return stdout.trim().replace(world.server.url, '');
};

describe('tenon docs', () => {
  it("opens the index of the server's documentation, without a token", async () => {
    const { exitCode, opened, stdout, stderr } = await opening(['docs'], anywhere());
    assert.deepEqual([exitCode, opened, stdout], [0, [`${world.server.url}/docs`], '']);
    assert.equal(stderr, `Opened ${world.server.url}/docs\n`);
  });

  it('writes the URL where no browser can be opened, and with --print and --json', async () => {
    const url = `${world.server.url}/docs`;
    const remote = { ...anywhere(), environment: { TENON_URL: world.server.url, SSH_TTY: '/dev/pts/1' } };
    assert.equal((await opening(['docs'], remote)).stdout, `${url}\n`);
    const failing = await runTenon(['docs'], { ...anywhere(), platform: 'darwin' });
    assert.deepEqual([failing.exitCode, failing.stdout], [0, `${url}\n`]);
    assert.match(failing.stderr, /^No browser could be opened/);
    const printed = await opening(['docs', '--print'], anywhere());
    assert.deepEqual([printed.stdout, printed.stderr, printed.opened], [`${url}\n`, '', []]);
    const asJson = await opening(['docs', '--json'], anywhere());
    assert.deepEqual([JSON.parse(asJson.stdout), asJson.opened], [{ url }, []]);
  });

  it('does not wait for a browser that keeps running', async () => {
    const slept: number[] = [];
    const { exitCode, stderr } = await runTenon(['docs'], {
      ...anywhere(),
      platform: 'darwin',
      openBrowser: () => new Promise<void>(() => {}),
      sleep: async (ms) => void slept.push(ms),
    });
    assert.deepEqual([exitCode, slept], [0, [1000]]);
    assert.match(stderr, /^Opened /);
  });

  it('finds pages by name, by path, and by words of the title; and error codes', async () => {
    for (const [topic, path] of [
      ['tenon-toml', '/docs/reference/tenon-toml'],
      ['how-to/deploy', '/docs/how-to/deploy'],
      ['reverse', '/docs/how-to/reverse-proxy'],
      ['HTTP API', '/docs/reference/http-api'],
      ['behind proxy', '/docs/how-to/reverse-proxy'],
      ['Extension point schemas', '/docs/reference/extension-point-schema'],
      ['quota_exceeded', '/reference/errors#quota_exceeded'],
      ['openapi', '/openapi.json'],
    ] as const) {
      assert.equal(await urlOf(['docs', ...topic.split(' ')], anywhere()), path);
      const page = await fetch(world.server.url + path);
      assert.equal(page.status, 200, path);
    }
  });

  it('lists the pages that a topic may mean, and fails for unknown ones', async () => {
    const several = await runTenon(['docs', 'trace'.slice(0, 4)], anywhere());
    assert.equal(several.exitCode, 4);
    assert.match(
      several.stderr,
      /Several pages are about "trac"\.[\s\S]* {2}how-to\/trace {2}Trace a module in your own host/,
    );
    const none = await runTenon(['docs', '../../evil'], anywhere());
    assert.equal(none.exitCode, 4);
    assert.match(none.stderr, /No page is about "\.\.\/\.\.\/evil"/);
    const nowhere = await runTenon(['docs'], { environment: {}, workingFolder: '/' });
    assert.equal(nowhere.exitCode, 2);
    assert.match(nowhere.stderr, /Which server\?/);
  });

  it('uses the server of tenon.toml, and completes topics', async () => {
    const { stdout, stderr } = await runTenon(['completion', '--', 'docs', 'tenon-'], anywhere());
    assert.deepEqual([stdout, stderr], ['tenon-toml\ttenon.toml\n', '']);
    const { stdout: all } = await runTenon(['completion', '--', 'docs', 'de'], anywhere());
    assert.ok(all.split('\n').includes('deploy\tDeploy'), all);
  });
});

describe('tenon open', () => {
  const team = (): Setting => ({
    environment: { TENON_DATA_DIR: world.server.dataDir },
    workingFolder: world.folder.path,
  });

  it('opens the page of what is named, as the team or a guest sees it', async () => {
    const { app } = world;
    const { extensionPoint, setting, user, guestName } = guest;
    assert.equal(await urlOf(['open', app], team()), `/apps/${app}`);
    assert.equal(await urlOf(['open', '--app', 'Demo'], team()), `/apps/${app}`);
    assert.equal(await urlOf(['open', 'Demo'], team()), `/apps/${app}`);
    assert.equal(await urlOf(['open', guestName], team()), `/apps/${app}/extension-points/${extensionPoint}`);
    assert.equal(await urlOf(['open', '-e', extensionPoint], setting), `/apps/${app}/my-plugins/${extensionPoint}`);
    assert.equal(await urlOf(['open', '--app', app], setting), `/apps/${app}/my-plugins`);
    assert.equal(await urlOf(['open'], setting), `/apps/${app}/my-plugins/${extensionPoint}`, 'not published yet');

    await world.demand(['plugin', 'push', '-'], { ...setting, stdin: moduleOf(1) });
    assert.equal(await urlOf(['open'], setting), `/apps/${app}/my-plugins/${extensionPoint}/sums`);
    assert.equal(await urlOf(['open', 'sums'], setting), `/apps/${app}/my-plugins/${extensionPoint}/sums`);
    const { stderr } = await runTenon(['usage'], setting);
    assert.match(stderr, /your role is guest\.\n.*tenon usage --plugin <name>\n$/s);
    const ofTeam = `/apps/${app}/extension-points/${extensionPoint}/plugins/${user}/sums`;
    assert.equal(await urlOf(['open', 'sums', '-e', extensionPoint], team()), ofTeam);
    assert.equal(await urlOf(['open', `${extensionPoint}/plugin/${user}/sums`], team()), ofTeam);
  });

  it('opens the start page where nothing is known, in a browser where there is one', async () => {
    const environment = { TENON_URL: world.server.url, TENON_TOKEN: guest.setting.environment.TENON_TOKEN };
    const { exitCode, opened, stdout } = await opening(['open'], { environment, workingFolder: world.folder.path });
    assert.deepEqual([exitCode, opened, stdout], [0, [`${world.server.url}/`], '']);
  });

  it('fails for what is not there, for several of one name, and without a token', async () => {
    for (const args of [
      ['nothing'],
      ['ext_01j29hxk3mfpq8ad68ha6hbsex'],
      [`${guest.extensionPoint}/plugin/${guest.user}/nothing`],
    ]) {
      assert.equal((await runTenon(['open', '--print', ...args], team())).exitCode, 4, args.join());
    }
    for (let count = 0; count < 2; count++) await world.demand(['app', 'create', 'Twice']);
    const { exitCode, stderr } = await runTenon(['open', '--print', 'Twice'], team());
    assert.equal(exitCode, 2);
    assert.match(stderr, /2 applications are called "Twice"\.[\s\S]*app_/);
    assert.equal((await runTenon(['open', '--print'], anywhere())).exitCode, 3);
  });

  it('completes plugins, extension points, and applications', async () => {
    const { stdout } = await runTenon(['completion', '--', 'open', ''], guest.setting);
    const offered = stdout.split('\n').map((line) => line.split('\t')[0]);
    for (const name of ['sums', guest.guestName, 'Demo']) assert.ok(offered.includes(name), name);
  });
});
