import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { formatTenonToml, parseTenonToml, type TenonToml, tenonTomlKeys } from './tenon-toml.ts';

const extensionPoint = newId('extensionPoint');
const guest = newId('guest');

const whole = `# a plugin
[plugin]
name = "greet"
extension-point = "${extensionPoint}"
server = "https://plugins.example.org"
module = "build/greet.wasm"
build = "make && echo \\"done\\""

[plugin.publish]
guest = "${guest}"
note = "nightly"
`;

const settings: TenonToml = {
  name: 'greet',
  extensionPoint,
  server: 'https://plugins.example.org',
  module: 'build/greet.wasm',
  build: 'make && echo "done"',
  guest,
  note: 'nightly',
};

function warningsOf(text: string): string[] {
  return parseTenonToml(text, 'tenon.toml').warnings;
}

describe('parseTenonToml()', () => {
  it('reads all that there is', () => {
    assert.deepEqual(parseTenonToml(whole, 'tenon.toml'), { settings, warnings: [] });
  });

  it('takes an empty one, dotted keys, and tables in a line', () => {
    assert.deepEqual(parseTenonToml('', 'tenon.toml'), { settings: {}, warnings: [] });
    for (const text of ['plugin.name = "a"', 'plugin = { name = "a" }', '[plugin]\n"name" = \'a\'']) {
      assert.deepEqual(parseTenonToml(text, 'tenon.toml').settings, { name: 'a' }, text);
    }
  });

  for (const [what, text, place, detail] of [
    ['broken TOML', '[plugin]\nname = \n', 'line 2, column 8', /this is no TOML/],
    ['a text that does not end', '[plugin]\nname = "greet\n', 'line 2, column 14', /this is no TOML/],
    ['a key that is there twice', '[plugin]\nname = "a"\nname = "b"\n', 'line 3, column 1', /this is no TOML/],
    ['a number for a name', '\n[plugin]\n  name = 3', 'line 3, column 3', /"plugin.name" expects text, and is 3/],
    ['a list for a command', '[plugin]\nbuild = ["make"]', 'line 2, column 1', /expects text, and is a list/],
    ['a name with a slash', '[plugin]\nname = "a/b"', 'line 2, column 1', /expects a name that matches .*"a\/b"/],
    ['another kind of id', `[plugin]\nextension-point = "${guest}"`, 'line 2, column 1', /expects an id, ext_…/],
    ['a server that is none', '[plugin]\nserver = "ftp://x"', 'line 2, column 1', /a server's URL, or a login's name/],
    ['a command of two lines', '[plugin]\nbuild = "a\\nb"', 'line 2, column 1', /a command, in one line/],
    ['an escape sequence in a command', '[plugin]\nbuild = "a\\u001b[2Kb"', 'line 2, column 1', /a command/],
    ['a note that is too long', `[plugin.publish]\nnote = "${'n'.repeat(501)}"`, 'line 2, column 1', /1 to 500/],
    ['a value for a table', 'plugin = "greet"', 'line 1, column 1', /is a table: write \[plugin\]/],
    ['a date for a table', 'plugin = 2026-07-01', 'line 1, column 1', /is a table/],
    [
      'a fault below a text of several lines',
      'note = """\n[plugin]\nname =\n"""\n[plugin]\nname = ""',
      'line 6, column 1',
      /plugin.name/,
    ],
  ] as const) {
    it(`says where ${what} is`, () => {
      assert.throws(
        () => parseTenonToml(text, 'tenon.toml'),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'invalid_tenon_toml');
          assert.ok(error.message.startsWith(`tenon.toml, ${place}: `), error.message);
          assert.match(error.message, detail);
          return true;
        },
      );
    });
  }

  it('warns of a key that means nothing, and names the one that may have been meant', () => {
    assert.deepEqual(warningsOf('[plugin]\nnmae = "a"\n'), [
      'tenon.toml, line 2, column 1: "plugin.nmae" means nothing here; did you mean "plugin.name"?',
    ]);
    assert.match(warningsOf('[plugin]\nextension_point = "x"')[0] ?? '', /did you mean "plugin.extension-point"\?$/);
    assert.match(warningsOf('name = "x"')[0] ?? '', /did you mean "plugin.name"\?$/);
    assert.match(warningsOf('[publish]\nguest = "x"')[0] ?? '', /did you mean "plugin.publish"\?$/);
    assert.match(warningsOf('[plugin]\nzebra = 1')[0] ?? '', /"plugin.zebra" means nothing here\.$/);
  });

  it('is not changed by keys that mean something to JavaScript', () => {
    const text = '__proto__ = { name = "x" }\n[plugin]\nconstructor = 1\n["plugin"."__proto__"]\nname = "y"\n';
    const { settings: read, warnings } = parseTenonToml(text, 'tenon.toml');
    assert.deepEqual([read, warnings.length], [{}, 3]);
  });
});

describe('formatTenonToml()', () => {
  it('writes what is read again', () => {
    assert.deepEqual(parseTenonToml(formatTenonToml(settings), 'tenon.toml').settings, settings);
    const odd = { build: 'echo "a\\b" \'c\' é 😀 \u00a0', note: 'one\ntwo\t\u007f' };
    assert.deepEqual(parseTenonToml(formatTenonToml(odd), 'tenon.toml').settings, odd);
  });
});

describe('docs/reference/tenon-toml.md', () => {
  it('has a row for each key, and an example that is right', async () => {
    const page = await readFile(new URL('../../../../docs/reference/tenon-toml.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `((?:plugin|test)\.[^`]+)` \|/gm)].map(([, key]) => key);
    assert.deepEqual(rows, tenonTomlKeys);
    const example = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const { settings: read, warnings } = parseTenonToml(example, 'tenon.toml');
    assert.deepEqual([read.name, warnings], ['greeter', []]);
  });
});
