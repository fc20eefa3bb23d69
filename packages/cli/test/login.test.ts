import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { loadConfig, serve } from '@tenon/server';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { until } from '../../../test/helpers/until.ts';
import type { Environment } from '../src/environment.ts';
import { interruptedError } from '../src/errors.ts';
import { run } from '../src/run.ts';
import { start } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { createIo, tenon as runTenon, type Setting } from './helpers/streams.ts';
import { type Decision, signUp, type WebAccount } from './helpers/web-account.ts';

let server: InProcessServer;
let ada: WebAccount;

before(async () => {
  server = await startInProcessServer({ settings: { TENON_SIGN_UP: 'open' } });
  ada = await signUp(server.url, 'Ada');
});

after(() => server.stop());

/** A user of some machine that has a display, with logins of their own. */
interface Person {
  readonly configDir: string;
  readonly environment: Environment;
  readonly tenon: (args: readonly string[], setting?: Setting) => ReturnType<typeof runTenon>;
  /** Runs `tenon login`, and decides on the page that it opens. */
  readonly logIn: (args?: readonly string[], decision?: Decision, account?: WebAccount) => ReturnType<typeof runTenon>;
}

const approve: Decision = { decision: 'approve' };
const deny: Decision = { decision: 'deny' };

async function newPerson(t: TestContext): Promise<Person> {
  const folder = await makeFolder();
  t.after(folder.remove);
  const configDir = join(folder.path, 'config', 'tenon');
  const environment = { TENON_CONFIG_DIR: configDir, TENON_DATA_DIR: folder.path, DISPLAY: ':0' };
  const tenon: Person['tenon'] = (args, setting = {}) =>
    runTenon(args, { platform: 'linux', ...setting, environment: { ...environment, ...setting.environment } });
  return {
    configDir,
    environment,
    tenon,
    logIn: (args = ['--server', server.url], decision = approve, account = ada) =>
      tenon(['login', ...args], {
        openBrowser: async (url) => void (await account.decideAndReturn(url, decision)),
      }),
  };
}

async function stored({ configDir }: Person) {
  return JSON.parse(await readFile(join(configDir, 'credentials.json'), 'utf8'));
}

async function untilShown(text: () => string, pattern: RegExp): Promise<string> {
  const found = await until(() => pattern.exec(text()), { message: () => `${pattern} was not shown: ${text()}` });
  return found[1] ?? found[0];
}

describe('tenon login in a browser on this machine', () => {
  it('logs in, and is who commands are from then on', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stdout, stderr } = await person.logIn();
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /you are +Ada \(ada@example\.org\)\n/);
    assert.match(stdout, /scopes +read, publish\n/);
    assert.match(stdout, /until +20\d\d-/);
    assert.ok(stdout.includes(join(person.configDir, 'credentials.json')));
    const whoami = (await person.tenon(['whoami', '--json'])).json();
    assert.deepEqual([whoami.name, whoami.server, whoami.profile], ['Ada', server.url, nameOf(server.url)]);
    assert.equal(whoami.token.name, 'tenon login (test-machine)');
    const token = (await person.tenon(['token', 'print'])).stdout.trim();
    assert.match(token, /^tnn_/);
    assert.ok(!(stdout + stderr).includes(token), 'the token is not shown');
  });

  it('keeps the token in a file for the user only', async (t) => {
    const person = await newPerson(t);
    await person.logIn();
    assert.equal((await stat(person.configDir)).mode & 0o777, 0o700);
    assert.equal((await stat(join(person.configDir, 'credentials.json'))).mode & 0o777, 0o600);
    const { version, current, profiles } = await stored(person);
    assert.deepEqual([version, current, Object.keys(profiles)], [1, nameOf(server.url), [current]]);
    assert.deepEqual(Object.keys(profiles[current]).sort(), ['expiresAt', 'scopes', 'token', 'tokenId', 'url', 'user']);
  });

  it("shows the page's address, and the code that the page shows", async (t) => {
    const person = await newPerson(t);
    let opened = '';
    let code = '';
    const { stderr } = await person.tenon(['login', '--server', server.url], {
      openBrowser: async (url) => {
        opened = url;
        code = (await ada.view(url)).userCode;
        await ada.decideAndReturn(url, approve);
      },
    });
    assert.ok(stderr.includes(`\n  ${opened}\n`), stderr);
    assert.match(code, /^[A-Z]{4}-[A-Z]{4}$/);
    assert.ok(stderr.includes(code), stderr);
  });

  it('tells the browser to go back to the terminal', async (t) => {
    const person = await newPerson(t);
    const shown: Promise<{ status: number; text: string }>[] = [];
    for (const decision of [approve, deny]) {
      await person.tenon(['login', '--server', server.url], {
        async openBrowser(url) {
          shown.push(ada.decideAndReturn(url, decision));
        },
      });
    }
    const pages = await Promise.all(shown);
    assert.deepEqual(
      pages.map(({ status }) => status),
      [200, 200],
    );
    assert.match(pages[0]?.text ?? '', /<h1>Approved<\/h1>.*close this window/);
    assert.match(pages[1]?.text ?? '', /<h1>Denied<\/h1>/);
  });

  it('says that it was denied, and stores nothing', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stderr } = await person.logIn(['--server', server.url, '--json'], deny);
    assert.equal(exitCode, 3);
    assert.equal(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.code, 'access_denied');
    assert.deepEqual((await person.tenon(['profile', 'list', '--json'])).json(), []);
  });

  it('asks for the scopes that are wanted, and says which were not granted', async (t) => {
    const person = await newPerson(t);
    const args = ['--server', server.url, '--scope', 'read,publish', '--name', 'build machine'];
    const { exitCode, stdout, stderr } = await person.logIn(args, { ...approve, scopes: ['read'] });
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /Not granted: publish\./);
    assert.match(stdout, /scopes +read\n/);
    assert.match((await person.tenon(['whoami'])).stdout, /token +tenon login \(build machine\)/);
    const refused = await person.tenon(['app', 'create', 'x']);
    assert.equal(refused.exitCode, 3);
    assert.match(refused.stderr, /tenon login --profile \S+ --scope read,publish,manage/);
    assert.equal((await person.logIn(['--scope', 'read,manage'], approve)).exitCode, 0);
    assert.equal((await person.tenon(['app', 'create', 'x'])).exitCode, 0);
  });

  it('takes the place of the login that it renews, whose token it revokes', async (t) => {
    const person = await newPerson(t);
    await person.logIn();
    const before = (await person.tenon(['token', 'print'])).stdout.trim();
    assert.equal((await person.logIn([])).exitCode, 0);
    const environment = { TENON_URL: server.url, TENON_TOKEN: before };
    assert.equal((await person.tenon(['whoami'], { environment })).exitCode, 3);
    assert.equal((await person.tenon(['whoami'])).exitCode, 0);
    assert.equal(Object.keys((await stored(person)).profiles).length, 1);
  });

  it('writes the result as JSON, without the token', async (t) => {
    const person = await newPerson(t);
    const { stdout, json } = await person.logIn(['--server', server.url, '--profile', 'work', '--json']);
    const { profile, url, user, scopes, tokenId } = json();
    assert.deepEqual([profile, url, user.name, scopes], ['work', server.url, 'Ada', ['read', 'publish']]);
    assert.match(tokenId, /^tok_/);
    assert.doesNotMatch(stdout, /tnn_/);
  });

  it('goes on without a browser that it can open', async (t) => {
    const person = await newPerson(t);
    for (const args of [[], ['--no-browser']]) {
      const { io, stderr } = createIo({ environment: person.environment, platform: 'linux' });
      const ended = run(['login', '--server', server.url, ...args], io);
      const url = await untilShown(() => stderr.text, /\n {2}(http\S+authorize\S+)\n/);
      if (args.length === 0) await untilShown(() => stderr.text, /No browser could be opened/);
      await ada.decideAndReturn(url, approve);
      assert.equal(await ended, 0, stderr.text);
    }
  });

  it('is ended by Ctrl-C, and listens no more', async (t) => {
    const person = await newPerson(t);
    const controller = new AbortController();
    const { io, stderr } = createIo({ environment: person.environment, platform: 'linux', signal: controller.signal });
    const ended = run(['login', '--server', server.url], io);
    const url = await untilShown(() => stderr.text, /\n {2}(http\S+authorize\S+)\n/);
    controller.abort(interruptedError('SIGINT'));
    assert.equal(await ended, 130);
    await assert.rejects(fetch(new URL(url).searchParams.get('redirect_uri') ?? ''));
    assert.deepEqual((await person.tenon(['profile', 'list', '--json'])).json(), []);
  });

  it('fails after ten minutes without an approval', async (t) => {
    const person = await newPerson(t);
    const sleptMs: number[] = [];
    const sleep = async (ms: number) => void sleptMs.push(ms);
    const openBrowser = () => new Promise<void>(() => {});
    const { exitCode, stderr } = await person.tenon(['login', '--server', server.url], { sleep, openBrowser });
    assert.deepEqual([exitCode, sleptMs], [1, [600_000]]);
    assert.match(stderr, /The login was not approved in time/);
  });

  it('says when variables keep commands from using it', async (t) => {
    const person = await newPerson(t);
    const openBrowser = async (url: string) => void (await ada.decideAndReturn(url, approve));
    for (const [environment, expected] of [
      [{ TENON_TOKEN: 'tnn_x' }, /TENON_TOKEN is set/],
      [{ TENON_URL: 'https://elsewhere.example' }, /TENON_URL names another server/],
    ] as const) {
      const { stderr } = await person.tenon(['login', '--server', server.url], { environment, openBrowser });
      assert.match(stderr, expected);
    }
  });
});

describe('tenon login on another device', () => {
  /** Runs `tenon login` until it shows a code, does something with that, and only then asks the server. */
  async function logInWith(
    person: Person,
    args: readonly string[],
    decide: (code: string) => Promise<void>,
    more = {},
  ) {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const environment = { ...person.environment, ...more };
    const { io, stdout, stderr } = createIo({ environment, platform: 'linux', sleep: () => settled });
    const ended = run(['login', '--server', server.url, ...args], io);
    await decide(await untilShown(() => stderr.text, /enter the code {2}([A-Z-]+)\n/));
    settle();
    return { exitCode: await ended, stdout: stdout.text, stderr: stderr.text };
  }

  it('logs in with a code that the person types', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stdout, stderr } = await logInWith(person, ['--device'], (code) =>
      ada.decideDevice(code.toLowerCase(), approve),
    );
    assert.equal(exitCode, 0, stderr);
    assert.ok(stderr.includes(`\n  ${server.url}/device\n`), stderr);
    assert.match(stdout, /you are +Ada/);
    assert.equal((await person.tenon(['whoami'])).exitCode, 0);
  });

  it('is how it is done over SSH, and where there is no display', async (t) => {
    const person = await newPerson(t);
    for (const more of [{ SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' }, { DISPLAY: '' }]) {
      const { exitCode } = await logInWith(person, [], (code) => ada.decideDevice(code, approve), more);
      assert.equal(exitCode, 0);
    }
  });

  it('says that it was denied', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stderr } = await logInWith(person, ['--device'], (code) => ada.decideDevice(code, deny));
    assert.equal(exitCode, 3);
    assert.match(stderr, /denied/);
  });

  it('waits as long as the server wants, and takes the answer when it is there', async (t) => {
    const person = await newPerson(t);
    const { io, stderr } = createIo({ environment: person.environment, platform: 'linux' });
    const ended = run(['login', '--server', server.url, '--device'], io);
    const code = await untilShown(() => stderr.text, /enter the code {2}([A-Z-]+)\n/);
    await ada.decideDevice(code, approve);
    const startedMs = performance.now();
    assert.equal(await ended, 0, stderr.text);
    assert.ok(performance.now() - startedMs > 4_000, 'it does not ask before its time');
  });
});

describe('logins at several servers', () => {
  it('stand side by side, each for its own server', async (t) => {
    const other = await startInProcessServer({ settings: { TENON_SIGN_UP: 'open' } });
    t.after(other.stop);
    const grace = await signUp(other.url, 'Grace');
    const person = await newPerson(t);
    await person.logIn(['--server', server.url, '--profile', 'first']);
    await person.logIn(['--server', other.url, '--profile', 'second'], approve, grace);
    const nameAt = async (...args: string[]) => (await person.tenon(['whoami', '--json', ...args])).json().name;
    assert.deepEqual(
      [await nameAt(), await nameAt('--server', server.url), await nameAt('--profile', 'first')],
      ['Grace', 'Ada', 'Ada'],
    );
    const listed = await person.tenon(['profile', 'list']);
    assert.match(listed.stdout, /\n +first +http\S+ +ada@example\.org +read, publish +20/);
    assert.match(listed.stdout, /\n\* +second +http\S+ +grace@example\.org/);
    assert.doesNotMatch(listed.stdout, /tnn_/);
    assert.equal((await person.tenon(['profile', 'use', 'first'])).exitCode, 0);
    assert.equal(await nameAt(), 'Ada');
    const taken = await person.logIn(['--server', other.url, '--profile', 'first'], approve, grace);
    assert.deepEqual([taken.exitCode, /is for/.test(taken.stderr)], [2, true]);
  });

  it('are distinguished from the demo in the current folder', async (t) => {
    const folder = await makeFolder();
    t.after(folder.remove);
    await mkdir(join(folder.path, 'tenon-data'));
    await writeFile(
      join(folder.path, 'tenon-data', 'quickstart.env'),
      'TENON_URL=http://localhost:1\nTENON_TOKEN=tnn_x\n',
    );
    const person = await newPerson(t);
    await person.logIn();
    const environment = { TENON_CONFIG_DIR: person.configDir };
    const here = await start(['whoami'], { environment, cwd: folder.path }).ended;
    assert.deepEqual([here.exitCode, /name +Ada/.test(here.stdout)], [0, true], here.stderr);
    assert.match(here.stderr, /To http\S+ \(profile \S+\)\. The data folder here is that of http:\/\/localhost:1:/);
    const there = await start(['token', 'print', '--data-dir', 'tenon-data'], { environment, cwd: folder.path }).ended;
    assert.deepEqual([there.stdout, there.stderr], ['tnn_x\n', '']);
  });

  it('are forgotten one by one, after a question', async (t) => {
    const person = await newPerson(t);
    await person.logIn(['--server', server.url, '--profile', 'one']);
    const asked = await person.tenon(['profile', 'remove', 'one']);
    assert.deepEqual([asked.exitCode, /works on until/.test(asked.stderr)], [2, true]);
    assert.equal((await person.tenon(['profile', 'remove', 'one', '--yes'])).exitCode, 0);
    assert.equal((await person.tenon(['profile', 'remove', 'one', '--yes'])).exitCode, 2);
    assert.equal((await person.tenon(['whoami'])).exitCode, 2);
  });
});

describe('tenon logout', () => {
  it('revokes the token, and forgets it', async (t) => {
    const person = await newPerson(t);
    await person.logIn();
    const token = (await person.tenon(['token', 'print'])).stdout.trim();
    const { exitCode, stderr } = await person.tenon(['logout']);
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /Logged out of http/);
    assert.doesNotMatch(await readFile(join(person.configDir, 'credentials.json'), 'utf8'), /tnn_/);
    const environment = { TENON_URL: server.url, TENON_TOKEN: token };
    assert.equal((await person.tenon(['whoami'], { environment })).exitCode, 3);
    const again = await person.tenon(['logout', '--server', server.url]);
    assert.equal(again.exitCode, 3);
    assert.ok(again.stderr.includes(`You are not logged in to ${server.url}.`), again.stderr);
    assert.match((await person.tenon(['logout'])).stderr, /Out of which login\? None is the current one\./);
  });

  it('forgets it where the server is away, and says how long the token lives', async (t) => {
    const gone = await startInProcessServer({ settings: { TENON_SIGN_UP: 'open' } });
    const account = await signUp(gone.url, 'Gone');
    const person = await newPerson(t);
    await person.logIn();
    await person.logIn(['--server', gone.url], approve, account);
    await gone.stop();
    const { exitCode, stderr, json } = await person.tenon(['logout', '--all', '--json']);
    assert.equal(exitCode, 0);
    assert.match(stderr, /was not revoked, and works until 20\d\d-.*no server listens there/);
    assert.deepEqual(
      json().map(({ url, revoked }: { url: string; revoked: boolean }) => [url, revoked]),
      [
        [server.url, true],
        [gone.url, false],
      ],
    );
    assert.deepEqual((await person.tenon(['profile', 'list', '--json'])).json(), []);
    assert.match((await person.tenon(['logout', '--all'])).stderr, /not logged in anywhere/);
  });
});

describe('a login that has ended', () => {
  it('says to log in again', async (t) => {
    const person = await newPerson(t);
    await person.logIn(['--server', server.url, '--profile', 'mine']);
    const { tokenId } = (await person.tenon(['profile', 'list', '--json'])).json()[0];
    const owner = { TENON_URL: server.url, TENON_TOKEN: (await person.tenon(['token', 'print'])).stdout.trim() };
    await fetch(`${server.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: owner.TENON_TOKEN, client_id: 'tenon-cli' }),
    });
    const { exitCode, stderr } = await person.tenon(['whoami']);
    assert.equal(exitCode, 3, tokenId);
    assert.match(stderr, /"mine" has been revoked\. Log in again: tenon login --profile mine/);
    assert.equal((await person.logIn(['--profile', 'mine'])).exitCode, 0);
    assert.equal((await person.tenon(['whoami'])).exitCode, 0);
  });
});

describe('a server without log-in', () => {
  it('is distinguished from one that can, when it serves instrumentation alone', async (t) => {
    const folder = await makeFolder();
    const running = await serve(
      loadConfig({ dataDir: folder.path, port: '0', host: '127.0.0.1', logLevel: 'silent', only: 'instrument' }, {}),
    );
    t.after(async () => {
      await running.close();
      await folder.remove();
    });
    const person = await newPerson(t);
    const { exitCode, stderr } = await person.tenon(['login', '--server', running.url]);
    assert.equal(exitCode, 4, stderr);
    assert.match(stderr, /does not support log-in from the command line/);
  });

  it('is asked for by the name that it goes by', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stderr } = await person.tenon([
      'login',
      '--server',
      server.url.replace('localhost', '127.0.0.1'),
    ]);
    assert.equal(exitCode, 1, stderr);
    assert.ok(stderr.includes(`tenon login --server ${server.url}`), stderr);
  });

  it('needs a name', async (t) => {
    const person = await newPerson(t);
    const { exitCode, stderr } = await person.tenon(['login']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /Which server\?/);
  });
});

/** The default name of a login. */
function nameOf(url: string): string {
  return new URL(url).host.replace(':', '-');
}
