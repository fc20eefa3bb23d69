import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { runShellSteps, shellSteps } from './shell-story.mjs';

const page = [
  '# Page',
  '```sh',
  '# a comment',
  'word=tenon',
  '',
  'echo "$word" \\',
  '  is here  # → tenon is',
  '```',
  '```console',
  '$ npm start',
  '```',
];

describe('shellSteps()', () => {
  it('finds the commands of sh blocks with their lines and what they print', () => {
    assert.deepEqual(shellSteps(page.join('\n')), [
      { command: 'word=tenon\n', expected: undefined, line: 4 },
      { command: 'echo "$word" \\\n  is here  # → tenon is\n', expected: 'tenon is', line: 6 },
    ]);
  });

  it('keeps a here-document with its command', () => {
    const lines = ['```sh', "cat > word <<'END'", 'tenon', 'END', 'cat word  # → tenon', '```'];
    assert.deepEqual(shellSteps(lines.join('\n')), [
      { command: "cat > word <<'END'\ntenon\nEND\n", expected: undefined, line: 2 },
      { command: 'cat word  # → tenon\n', expected: 'tenon', line: 5 },
    ]);
  });
});

describe('runShellSteps()', () => {
  it('finds nothing wrong with steps that do what they say', async () => {
    assert.deepEqual(await run(page), []);
  });

  it('stops at a step that fails, and says which', async () => {
    const faults = await run(['```sh', 'echo fine', 'echo broken >&2; false | cat', 'echo not reached', '```']);
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', /^line 3 ended with 1: [\s\S]*broken/);
  });

  it('stops at a variable that is not set', async () => {
    assert.match((await run(['```sh', 'echo "$no_such_variable"', '```']))[0] ?? '', /^line 2 ended with \d+: /);
  });

  it('finds a step that prints something else', async () => {
    assert.deepEqual(await run(['```sh', 'echo 500  # → 200', '```']), [
      'line 2 should print 200: echo 500  # → 200\nit printed "500\\n"',
    ]);
  });

  function run(lines: string[]) {
    return runShellSteps(shellSteps(lines.join('\n')), tmpdir(), process.env);
  }
});
