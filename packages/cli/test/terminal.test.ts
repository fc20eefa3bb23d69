import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { tenon } from './helpers/streams.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';

let server: InProcessServer;

before(async () => {
  server = await startInProcessServer();
});

after(() => server.stop());

async function makeApp(): Promise<string> {
  return (await tenon(['app', 'create', 'Doomed'], { environment: server.quickstart })).stdout.trim();
}

async function isThere(app: string): Promise<boolean> {
  return (await tenon(['app', 'show', '--app', app], { environment: server.quickstart })).exitCode === 0;
}

/** Runs the program in a terminal, and types the answer when it asks. */
function answerInTerminal(args: readonly string[], answer: string) {
  const { quickstart: environment } = server;
  return inTerminal(args, { environment, replies: [[/\[y\/N\] /, answer]] }).ended;
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
      const setting = { environment: server.quickstart, stdin: answer, isTerminal: true };
      const { exitCode, stderr } = await tenon(['app', 'delete', '--app', app], setting);
      assert.match(stderr, /The application "Doomed" will be deleted.*Continue\? \[y\/N\]/);
      assert.equal(exitCode, isDone ? 0 : 1);
      assert.equal(await isThere(app), !isDone);
    });
  }

  if (hasScript()) {
    it('is asked in a real terminal', async () => {
      const app = await makeApp();
      const { screen, exitCode } = await answerInTerminal(['app', 'delete', '--app', app], 'y\r');
      assert.match(screen, /Deleted the application "Doomed"/);
      assert.equal(exitCode, 0);
      assert.equal(await isThere(app), false);
    });

    it('is ended by Ctrl-C in a real terminal', async () => {
      const app = await makeApp();
      const { screen, exitCode } = await answerInTerminal(['app', 'delete', '--app', app], '\u0003');
      assert.doesNotMatch(screen, /error/);
      assert.equal(exitCode, 130);
      assert.equal(await isThere(app), true);
    });
  }
});

describe('colours', () => {
  it('are on a terminal, and nowhere else', async () => {
    const { quickstart: environment } = server;
    assert.match((await tenon(['app', 'list'], { environment, isTerminal: true })).stdout, /\u001b\[2mNAME/);
    assert.match((await tenon(['--help'], { isTerminal: true })).stdout, /\u001b\[1m/);
    assert.match((await tenon(['app', 'show', '--app', 'x'], { environment, isTerminal: true })).stderr, /\u001b\[31m/);
    const quiet = { environment: { ...environment, NO_COLOR: '1' }, isTerminal: true };
    for (const args of [['app', 'list'], ['--help'], ['app', 'show', '--app', 'x']]) {
      const { stdout, stderr } = await tenon(args, quiet);
      assert.doesNotMatch(stdout + stderr, /\u001b/);
    }
  });

  it('come from tenon alone: names that hold escapes are shown as text', async () => {
    const { quickstart: environment } = server;
    await tenon(['app', 'create', 'evil\u001b[31m'], { environment });
    const { stdout } = await tenon(['app', 'list'], { environment });
    assert.doesNotMatch(stdout, /\u001b/);
    assert.match(stdout, /evil\\u\{1b\}\[31m/);
  });
});
