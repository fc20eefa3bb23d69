import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { unsafeCharacters } from '@tenon/trace/unsafe-characters';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { tenon } from './helpers/streams.ts';

/** Clears the screen, sets the title, turns the direction of writing, hides characters, and begins new lines. */
const hostile = 'a\u001b[2J\u001b]0;t\u0007\u001b[31m\u009b1m\u202e\u200b\r\n\u2028z';
/** Fields of responses that hold texts of other users. */
const textFields = new Set(['name', 'email', 'guestKey', 'note', 'reason', 'detail', 'title', 'pluginName', 'what']);
const ownColours = /\u001b\[(?:0|1|2|22|31|32|33|39)m/g;

let server: InProcessServer;

before(async () => {
  server = await startInProcessServer();
  const { exitCode } = await tenon(['guest', 'invite', 'b'], { environment: server.quickstart });
  assert.equal(exitCode, 0);
});

after(() => server.stop());

function poison(value: unknown, field = ''): unknown {
  if (typeof value === 'string' || field === 'note') return textFields.has(field) ? hostile : value;
  if (Array.isArray(value)) return value.map((item) => poison(item, field));
  if (typeof value !== 'object' || value === null) return value;
  // A plugin's name has a pattern, which the command checks.
  const isPlugin = 'contentAddress' in value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, isPlugin && key === 'name' ? item : poison(item, key)]));
}

/** Has the server's responses contain hostile texts. */
const fetchPoisoned: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.headers.get('content-type')?.includes('json')) return response;
  const body = JSON.stringify(poison(await response.json()));
  return new Response(body, { status: response.status, headers: response.headers });
};

function run(args: readonly string[], isTerminal: boolean) {
  return tenon(args, { environment: server.quickstart, fetch: fetchPoisoned, isTerminal, columns: 60 });
}

function assertSafe(text: string, what: string): void {
  const rest = text.replaceAll(ownColours, '').replaceAll('\n', '');
  assert.doesNotMatch(rest, new RegExp(unsafeCharacters.source, 'u'), what);
  assert.doesNotMatch(text, /^z/m, `${what}: a text begins no line`);
}

/** A command of each family, and whether a text of another user is in its output. */
const commands: readonly (readonly [args: readonly string[], shows: boolean])[] = [
  [['app', 'list'], true],
  [['app', 'show'], true],
  [['app', 'create', 'x'], true],
  [['app', 'audit'], true],
  [['app', 'approvals'], false],
  [['app', 'member', 'list'], true],
  [['app', 'member', 'invite', 'viewer'], false],
  [['app', 'member', 'invitations'], false],
  [['extension-point', 'list'], true],
  [['extension-point', 'show'], true],
  [['extension-point', 'withdrawals'], false],
  [['guest', 'list'], true],
  [['guest', 'remove', hostile, '--yes'], true],
  [['invitation', 'list'], true],
  [['plugin', 'list'], false],
  [['plugin', 'versions', 'greet'], true],
  [['plugin', 'status', 'greet'], true],
  [['plugin', 'yank', 'greet@9', '--reason', 'x'], false],
  [['plugin', 'status', 'no-such-plugin'], false],
  [['bindings', 'demo/acme'], false],
  [['token', 'list'], true],
  [['token', 'create', 'x'], false],
  [['api-key', 'list'], false],
  [['api-key', 'create', 'x'], false],
  [['quotas'], true],
  [['whoami'], true],
  [['status'], false],
  [['profile', 'use', hostile], true],
  [[hostile], true],
  [['app', 'list', '--limit', hostile], true],
];

describe('hostile texts of a server', () => {
  for (const [args, shows] of commands) {
    for (const isTerminal of [false, true]) {
      it(`are escaped by tenon ${JSON.stringify(args.join(' '))} ${isTerminal ? 'on a terminal' : 'in a pipe'}`, async () => {
        const { stdout, stderr } = await run(args, isTerminal);
        assertSafe(stdout, 'stdout');
        assertSafe(stderr, 'stderr');
        if (shows && !isTerminal) assert.match(stdout + stderr, /\\u\{202e\}|\\u202e/);
        assertSafe((await run([...args, '--json'], isTerminal)).stdout, 'JSON');
      });
    }
  }
});

describe('tables on a terminal', () => {
  it('are as wide as the terminal, and whole in a pipe', async () => {
    const environment = server.quickstart;
    const narrow = await tenon(['plugin', 'list'], { environment, isTerminal: true, columns: 80 });
    const piped = await tenon(['plugin', 'list'], { environment });
    const lines = narrow.stdout.replaceAll(ownColours, '').trimEnd().split('\n');
    assert.ok(
      lines.every((text) => text.length <= 80),
      narrow.stdout,
    );
    assert.match(lines[1] ?? '', /^greet .*…/);
    assert.doesNotMatch(piped.stdout, /…/);
    assert.match(piped.stdout, /[\w-]{43}/);
  });
});
