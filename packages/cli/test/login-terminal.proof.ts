import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { until } from '../../../test/helpers/until.ts';
import { start } from './helpers/binary.ts';
import { newMachine } from './helpers/machine.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';
import { signUp, type WebAccount } from './helpers/web-account.ts';

let server: InProcessServer;
let ada: WebAccount;

before(async () => {
  server = await startInProcessServer({ settings: { TENON_SIGN_UP: 'open' } });
  ada = await signUp(server.url, 'Ada');
});

after(() => server.stop());

describe('tenon login in a real terminal', { skip: !hasScript() }, () => {
  it('opens the browser, waits with something that moves, and says who one is', async (t) => {
    const machine = await newMachine(t);
    const { screen, ended } = inTerminal(['login', '--server', server.url], machine);
    const url = await machine.opened();
    const { userCode } = await ada.view(url);
    await until(() => (/⠋[\s\S]*⠙[\s\S]*⠹/.test(screen()) ? true : undefined));
    assert.ok(screen().includes(userCode), screen());
    const { status } = await ada.decideAndReturn(url, { decision: 'approve' });
    assert.equal(status, 200);
    const { exitCode, screen: all } = await ended;
    assert.equal(exitCode, 0, all);
    const [, result = ''] = all.split('\u001b[KLogged in to');
    assert.match(stripVTControlCharacters(result), /you are +Ada \(ada@example\.org\)/);
    assert.doesNotMatch(result, /[⠋⠙⠹]/, 'the spinner is gone');
    const { stdout } = await start(['whoami', '--json'], machine).ended;
    assert.equal(JSON.parse(stdout).email, ada.email);
  });

  it('takes a code from another device', async (t) => {
    const machine = await newMachine(t);
    const environment = { ...machine.environment, SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
    const { screen, ended } = inTerminal(['login', '--server', server.url], { environment });
    const code = await until(() => /([BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4})/.exec(screen())?.[1]);
    await until(() => (screen().includes('Waiting') ? true : undefined));
    await ada.decideDevice(code, { decision: 'approve' });
    const { exitCode, screen: all } = await ended;
    assert.equal(exitCode, 0, all);
    assert.match(stripVTControlCharacters(all), /you are +Ada/);
    assert.ok(!(await readdir(machine.folder)).includes('address'), 'no browser was opened');
  });

  it('is cancelled by Ctrl-C, and leaves nothing behind', async (t) => {
    for (const args of [[], ['--device']]) {
      const machine = await newMachine(t);
      const replies = [[/Waiting for your approval/, '\u0003']] as const;
      const { ended } = inTerminal(['login', '--server', server.url, ...args], { ...machine, replies });
      const { exitCode, screen } = await ended;
      assert.equal(exitCode, 130, screen);
      assert.doesNotMatch(screen, /error/);
      const { stdout } = await start(['profile', 'list', '--json'], machine).ended;
      assert.deepEqual(JSON.parse(stdout), []);
    }
  });
});

describe('tenon login without a terminal', () => {
  it('says in plain lines what to do', async (t) => {
    const machine = await newMachine(t);
    const { ended } = start(['login', '--server', server.url, '--json'], machine);
    await ada.decideAndReturn(await machine.opened(), { decision: 'approve' });
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0, stderr);
    assert.equal(JSON.parse(stdout).user.email, ada.email);
    assert.doesNotMatch(stdout + stderr, /\u001b|⠋/);
    assert.match(stderr, /Waiting for your approval in the browser/);
  });

  it('ends soon after it is done, whatever its browser does', { skip: process.platform === 'win32' }, async (t) => {
    const machine = await newMachine(t);
    const slow = join(machine.folder, 'slow');
    await writeFile(slow, `#!/bin/sh\n'${machine.environment.BROWSER}' "$1"\nexec sleep 60\n`, { mode: 0o755 });
    const { ended } = start(['login', '--server', server.url], {
      environment: { ...machine.environment, BROWSER: slow },
    });
    await ada.decideAndReturn(await machine.opened(), { decision: 'approve' });
    const approvedMs = performance.now();
    assert.equal((await ended).exitCode, 0);
    assert.ok(performance.now() - approvedMs < 30_000);
  });
});
