import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { binary } from './helpers/binary.ts';
import { startServer, type TestServer } from './helpers/server.ts';
import { tenon } from './helpers/streams.ts';

let server: TestServer;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

async function makeApp(): Promise<string> {
  return (await tenon(['app', 'create', 'Doomed'], { environment: server.environment })).stdout.trim();
}

async function isThere(app: string): Promise<boolean> {
  return (await tenon(['app', 'show', app], { environment: server.environment })).exitCode === 0;
}

/** util-linux's `script` gives a program a terminal of its own. Other systems have another `script`, or none. */
function hasScript(): boolean {
  if (process.platform !== 'linux') return false;
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, 'script'), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Shown {
  readonly screen: string;
  readonly exitCode: number | null;
}

/** Runs the program in a terminal, types the answers when it asks, and returns what was on the screen. */
function inTerminal(args: readonly string[], answer: string): Promise<Shown> {
  const command = [process.execPath, binary, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...server.environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let hasAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (hasAnswered || !screen.includes('[y/N] ')) return;
    hasAnswered = true;
    child.stdin.write(answer);
  });
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ screen, exitCode })));
}

describe('a question before what cannot be undone', () => {
  for (const [answer, isDone] of [
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['', false],
  ] as const) {
    it(`${isDone ? 'goes on' : 'does nothing'} after ${JSON.stringify(answer)}`, async () => {
      const app = await makeApp();
      const setting = { environment: server.environment, stdin: answer, isTerminal: true };
      const { exitCode, stderr } = await tenon(['app', 'delete', app], setting);
      assert.match(stderr, /The application "Doomed" will be deleted.*Go on\? \[y\/N\]/);
      assert.equal(exitCode, isDone ? 0 : 1);
      assert.equal(await isThere(app), !isDone);
    });
  }

  if (hasScript()) {
    it('is asked in a real terminal', async () => {
      const app = await makeApp();
      const { screen, exitCode } = await inTerminal(['app', 'delete', app], 'y\r');
      assert.match(screen, /Deleted the application "Doomed"/);
      assert.equal(exitCode, 0);
      assert.equal(await isThere(app), false);
    });

    it('is ended by Ctrl-C in a real terminal', async () => {
      const app = await makeApp();
      const { screen, exitCode } = await inTerminal(['app', 'delete', app], '\u0003');
      assert.match(screen, /Ended by SIGINT/);
      assert.equal(exitCode, 130);
      assert.equal(await isThere(app), true);
    });
  }
});

describe('colours', () => {
  it('are on a terminal, and nowhere else', async () => {
    const { environment } = server;
    assert.match((await tenon(['app', 'list'], { environment, isTerminal: true })).stdout, /\u001b\[2mNAME/);
    assert.match((await tenon(['--help'], { isTerminal: true })).stdout, /\u001b\[1m/);
    assert.match((await tenon(['app', 'show', 'x'], { environment, isTerminal: true })).stderr, /\u001b\[31m/);
    const quiet = { environment: { ...environment, NO_COLOR: '1' }, isTerminal: true };
    for (const args of [['app', 'list'], ['--help'], ['app', 'show', 'x']]) {
      const { stdout, stderr } = await tenon(args, quiet);
      assert.doesNotMatch(stdout + stderr, /\u001b/);
    }
  });

  it('come from tenon alone: names that hold escapes are shown as text', async () => {
    const { environment } = server;
    await tenon(['app', 'create', 'evil\u001b[31m'], { environment });
    const { stdout } = await tenon(['app', 'list'], { environment });
    assert.doesNotMatch(stdout, /\u001b/);
    assert.match(stdout, /evil\\u\{1b\}\[31m/);
  });
});
