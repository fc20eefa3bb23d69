import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { findModule, findProject } from './project.ts';
import { parseTenonToml } from './tenon-toml.ts';
import { parseXtpToml } from './xtp-toml.ts';

const extensionPoint = newId('extensionPoint');

/** As the templates and examples of `xtp` write it. */
const whole = `app_id = "app_01j2bjr8xcfgqbnscn3eat8mr3"

# This is where 'xtp plugin push' expects to find the wasm file after the build script has run.
bin = "dist/plugin.wasm"
extension_point_id = "${extensionPoint}"
name = "tz"

[scripts]

  # xtp plugin build runs this script to generate the wasm file
  build = "mkdir -p dist && tinygo build -target wasi -o dist/plugin.wasm ."

  # xtp plugin init runs this script to format the plugin code
  format = "go fmt"
  prepare = "go get ./..."

[[test]]
name = "basic"
build = "cd tests && tinygo build -o ../dist/test.wasm -target wasi test.go"
with = "dist/test.wasm"
mock_host = "dist/host.wasm"
mock_input = { data = "this is my mock input data" }

[[test]]
  name = "basic - file input"
  with = "dist/test.wasm"
  mock_input = { file = "tests/input.csv" }
`;

function faultOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It has no fault.');
}

describe('parseXtpToml()', () => {
  it('reads a file unchanged, without warnings', () => {
    const { settings, warnings } = parseXtpToml(whole, 'xtp.toml');
    assert.deepEqual(warnings, []);
    assert.deepEqual(settings, {
      name: 'tz',
      extensionPoint,
      module: 'dist/plugin.wasm',
      build: 'mkdir -p dist && tinygo build -target wasi -o dist/plugin.wasm .',
      tests: [
        {
          name: 'basic',
          build: 'cd tests && tinygo build -o ../dist/test.wasm -target wasi test.go',
          with: 'dist/test.wasm',
          mockHost: 'dist/host.wasm',
          mockInput: { data: 'this is my mock input data' },
        },
        { name: 'basic - file input', with: 'dist/test.wasm', mockInput: { file: 'tests/input.csv' } },
      ],
    });
  });

  it('takes tests alone, empty texts, commands of several lines, and keys of other programs', () => {
    const text = 'bin = ""\nhost = 1\n[scripts]\nbuild = """\ngo build\ngo test\n"""\n';
    assert.deepEqual(parseXtpToml(text, 'xtp.toml').settings, { build: 'go build\ngo test\n' });
  });

  for (const [what, text, place, detail] of [
    ['another id', 'extension_point_id = "ext_x"', 'line 1', /"extension_point_id" expects an id/],
    ['a number for a file', '\nbin = 3', 'line 2', /"bin" expects the path of a file, and is 3/],
    ['scripts that are a text', 'scripts = "x"', 'line 1', /"scripts" is a table/],
    ['an escape sequence', '[scripts]\nbuild = "a\\u001b[2K"', 'line 2', /"scripts.build" expects a command/],
    ['a test that is no list', '[test]\nwith = "x"', 'line 1', /write \[\[test\]\]/],
    ['a test without a module', '[[test]]\nwith = "a"\n\n[[test]]\nname = "x"', 'line 4', /a test needs with/],
    [
      'a mock input of two kinds',
      '[[test]]\nwith = "a"\nmock_input = { data = "a", file = "b" }',
      'line 3',
      /expects \{ data/,
    ],
    [
      'a mock input from the network',
      '[[test]]\nwith = "a"\nmock_input = { url = "https://x" }',
      'line 3',
      /expects \{ data/,
    ],
    ['broken TOML', 'bin = ', 'line 1', /this is no TOML/],
  ] as const) {
    it(`says where ${what} is`, () => {
      const message = faultOf(() => parseXtpToml(text, 'xtp.toml'));
      assert.ok(message.startsWith(`xtp.toml, ${place}, column `), message);
      assert.match(message, detail);
    });
  }

  it('takes a bounded number of tests', () => {
    assert.match(
      faultOf(() => parseXtpToml('[[test]]\nwith = "a"\n'.repeat(101), 'xtp.toml')),
      /101 tests; at most 100/,
    );
  });
});

describe('[[test]] in tenon.toml', () => {
  it('has the same tests under its own names, and fixtures', () => {
    const text = `[[test]]
name = "basic"
build = "make test.wasm"
with = "test.wasm"
mock-host = "host.wasm"
mock-input = { data = "x" }

[[test]]
fixtures = "fixtures.json"
`;
    const { settings, warnings } = parseTenonToml(text, 'tenon.toml');
    assert.deepEqual(warnings, []);
    assert.deepEqual(settings.tests, [
      { name: 'basic', build: 'make test.wasm', with: 'test.wasm', mockHost: 'host.wasm', mockInput: { data: 'x' } },
      { fixtures: 'fixtures.json' },
    ]);
  });

  it('needs a test module or fixtures, not both', () => {
    const both = '[[test]]\nwith = "a"\nfixtures = "b"';
    assert.match(
      faultOf(() => parseTenonToml(both, 'tenon.toml')),
      /line 1, column 3: a test needs either with or fixtures/,
    );
    assert.match(
      faultOf(() => parseTenonToml('[[test]]', 'tenon.toml')),
      /needs either with or fixtures/,
    );
  });

  it('warns of keys of the other file', () => {
    const { warnings } = parseTenonToml('[[test]]\nwith = "a"\n[[test]]\nwith = "b"\nmock_host = "c"', 'tenon.toml');
    assert.deepEqual(warnings, [
      'tenon.toml, line 5, column 1: "test.mock_host" means nothing here; did you mean "test.mock-host"?',
    ]);
  });
});

describe('findProject() with an xtp.toml', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-xtp-'));
    await mkdir(join(folder, 'inner'));
    await writeFile(join(folder, 'tenon.toml'), '[plugin]\nname = "outer"\n');
    await writeFile(join(folder, 'inner', 'xtp.toml'), whole);
  });
  after(() => rm(folder, { recursive: true }));

  it('takes the nearest file, and refuses to fetch modules', async () => {
    const project = await findProject(join(folder, 'inner'));
    assert.deepEqual([project?.fileName, project?.settings.name, project?.warnings], ['xtp.toml', 'tz', []]);
    const url = 'https://example.org/code.wasm';
    await assert.rejects(
      findModule(project ?? assert.fail(), url),
      /The module that xtp\.toml names is a URL, which is not/,
    );
    await assert.rejects(
      findModule(project ?? assert.fail(), '../../x.wasm'),
      /that xtp\.toml names is outside of its folder/,
    );
  });

  it('prefers tenon.toml in the same folder, and says so', async () => {
    await writeFile(join(folder, 'xtp.toml'), 'name = "other"');
    const project = await findProject(folder);
    assert.equal(project?.settings.name, 'outer');
    assert.deepEqual(project?.warnings, ['tenon.toml is used; the xtp.toml beside it is ignored.']);
  });
});
