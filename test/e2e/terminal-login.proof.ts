import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { start } from '../../packages/cli/test/helpers/binary.ts';
import { type Machine, newMachine } from '../../packages/cli/test/helpers/machine.ts';
import { hasScript, inTerminal } from '../../packages/cli/test/helpers/terminal.ts';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { root } from '../helpers/server.ts';
import { until } from '../helpers/until.ts';
import { fillInSignIn } from './helpers/pages.ts';

const greet = join(root, 'packages', 'server', 'sample', 'greet.wasm');
const userCode = /\b([BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4})\b/;

describe('a login from a terminal, decided in a browser', { skip: noBrowser || !hasScript() }, () => {
  let stage: StageApart;
  let email: string;
  let password: string;
  let extensionPoint: string;
  before(async () => {
    stage = await openStageApart();
    const { quickstart } = stage.server;
    ({
      TENON_EMAIL: email = '',
      TENON_PASSWORD: password = '',
      TENON_EXTENSION_POINT_ID: extensionPoint = '',
    } = quickstart);
  });
  after(() => stage.close());

  const run = (machine: Machine, ...args: string[]) => start(args, machine).ended;

  /** The code that the terminal shows. */
  const shownCode = (screen: () => string) => until(() => userCode.exec(stripVTControlCharacters(screen()))?.[1]);

  async function signedIn(): Promise<Visitor> {
    const visitor = await stage.visitor();
    await visitor.open('/');
    await visitor.signIn(email, password);
    return visitor;
  }

  /** Presses a button that leads back to the program, and waits for what the program answers. */
  async function pressAndReturn(visitor: Visitor, button: string): Promise<string> {
    const { page } = visitor;
    await Promise.all([
      page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback/),
      page.getByRole('button', { name: button }).click(),
    ]);
    const words = await page.locator('h1').innerText();
    // To the program's own address, which is on this machine: the one other host that a page may lead to.
    const others = visitor.faults.filter(
      (fault) => !/another host: http:\/\/127\.0\.0\.1:\d+\/(callback|favicon)/.test(fault),
    );
    visitor.faults.splice(0, Infinity, ...others);
    return words;
  }

  /** What commands do from then on, and that nothing is left when one logs out. */
  async function useAndLogOut(machine: Machine): Promise<void> {
    const whoami = await run(machine, 'whoami');
    assert.ok(whoami.stdout.includes(email), whoami.stdout + whoami.stderr);
    const pushed = await run(machine, 'plugin', 'push', greet, '--extension-point', extensionPoint, '--name', 'pushed');
    assert.equal(pushed.exitCode, 0, pushed.stderr);
    const token = (await run(machine, 'token', 'print')).stdout.trim();
    const me = () => fetch(`${stage.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await me()).status, 200);
    const out = await run(machine, 'logout');
    assert.equal(out.exitCode, 0, out.stderr);
    assert.equal((await me()).status, 401, 'the token is dead');
    assert.equal((await run(machine, 'whoami')).exitCode, 2);
    assert.ok(!stage.server.output().includes(token), 'no log has the token');
  }

  it('is approved on the page that it opens, and serves until one logs out', async (t) => {
    const machine = await newMachine(t);
    const { screen, ended } = inTerminal(['login', '--server', stage.url], machine);
    const visitor = await stage.visitor();
    const { page } = visitor;
    await page.goto(await machine.opened());
    await fillInSignIn(page, email, password);
    await page.getByRole('heading', { name: 'Approve this login?' }).waitFor();
    await page.getByText(await shownCode(screen), { exact: true }).waitFor();
    assert.equal(await pressAndReturn(visitor, 'Approve'), 'Approved');
    const { exitCode, screen: all } = await ended;
    assert.equal(exitCode, 0, all);
    assert.match(stripVTControlCharacters(all), /you are +Demo owner/);
    await visitor.close();
    await useAndLogOut(machine);
  });

  it('is approved with the code of a terminal that opens no browser', async (t) => {
    const machine = await newMachine(t);
    const { screen, ended } = inTerminal(['login', '--server', stage.url, '--device'], machine);
    const code = await shownCode(screen);
    assert.ok(stripVTControlCharacters(screen()).includes(`${stage.url}/device`));
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.open('/device');
    await page.getByLabel('Code from the terminal').fill(code);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('I started this login').check();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    const { exitCode, screen: all } = await ended;
    assert.equal(exitCode, 0, all);
    await visitor.close();
    await useAndLogOut(machine);
  });

  it('is denied in the browser, either way, and leaves nothing', async (t) => {
    const visitor = await signedIn();
    const { page } = visitor;
    for (const options of [[], ['--device']]) {
      const machine = await newMachine(t);
      const { screen, ended } = inTerminal(['login', '--server', stage.url, ...options], machine);
      if (options.length === 0) {
        await page.goto(await machine.opened());
        assert.equal(await pressAndReturn(visitor, 'Deny'), 'Denied');
      } else {
        await visitor.open(`/device?user_code=${await shownCode(screen)}`);
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByRole('heading', { name: 'Denied' }).waitFor();
      }
      const { exitCode, screen: all } = await ended;
      assert.equal(exitCode, 3, all);
      assert.match(stripVTControlCharacters(all), /denied/i);
      assert.deepEqual(JSON.parse((await run(machine, 'profile', 'list', '--json')).stdout), []);
    }
    await visitor.close();
  });
});
