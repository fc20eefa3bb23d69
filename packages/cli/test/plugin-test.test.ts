import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newId, simulationReport } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import { interruptedError } from '../src/errors.ts';
import { makeFolder } from './helpers/folder.ts';
import { cuttingPlugin, echoPlugin, lengthTest, spinningPlugin } from './helpers/simulation-modules.ts';
import { tenon } from './helpers/streams.ts';

let root: Awaited<ReturnType<typeof makeFolder>>;
let next = 1;

before(async () => {
  root = await makeFolder();
});

after(() => root.remove());

/** A folder of its own with these files, and what tests the plugin there. */
async function makeProject(files: Readonly<Record<string, string | Uint8Array>>) {
  const path = join(root.path, `project-${next++}`);
  await mkdir(path);
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content);
  const offline = { workingFolder: path, environment: {}, fetch: () => Promise.reject(new Error('no network')) };
  return {
    path,
    offline,
    read: (name: string) => readFile(join(path, name), 'utf8').catch(() => undefined),
    test: (...args: string[]) => tenon(['plugin', 'test', ...args], offline),
    call: (...args: string[]) => tenon(['plugin', 'call', ...args], offline),
  };
}

const files = {
  'good.wasm': echoPlugin(),
  'bad.wasm': cuttingPlugin,
  'half.wasm': echoPlugin('(if (i32.const 0) (then nop)) (call $output_set (call $input_offset) (call $input_length))'),
  'spin.wasm': spinningPlugin,
  'test.wasm': lengthTest,
};
const withTest = ['--with', 'test.wasm', '--mock-input-data', 'Ada'];

describe('tenon plugin test: a test module', () => {
  it('ends with 0 if the plugin passes, and with 1 if it fails, and shows why', async () => {
    const { test } = await makeProject(files);
    const good = await test('good.wasm', ...withTest);
    assert.deepEqual([good.exitCode, good.stderr], [0, '']);
    assert.match(good.stdout, /^✔ test \(.* ms, 1 assertion\)\n {2}a group\n {4}✔ same length\n$/);
    const bad = await test('bad.wasm', ...withTest);
    assert.equal(bad.exitCode, 1);
    assert.match(bad.stdout, /^✖ test failed .*\n {2}a group\n {4}✖ same length\n {8}lengths differ\n {2}calls\n/);
    assert.match(bad.stdout, /echo\("Ada"\) → "A" /);
    assert.equal(bad.stderr, 'error: The simulation failed.\n');
  });

  it('reports the coverage of the plugin, and fails below a percentage', async () => {
    const { test, read } = await makeProject(files);
    const { exitCode, stderr, json } = await test(
      ...['good.wasm', ...withTest, '--json', '--lcov', 'lcov.info', '--merge', 'counts.json'],
    );
    assert.equal(exitCode, 0, stderr);
    const { coverage, simulations } = json();
    assert.ok(coverage.blocks.covered > 0);
    assert.deepEqual(simulations[0].coverage.blocks.covered, coverage.blocks.covered);
    assert.match((await read('lcov.info')) ?? '', /^TN:\nSF:good\.wasm\n/);
    const low = await test('half.wasm', ...withTest, '--fail-under', '100');
    assert.equal(low.exitCode, 1);
    assert.match(low.stderr, /^half\.wasm .*%$[\s\S]*--fail-under requires 100 %\.\n$/m);
    assert.equal((await test('good.wasm', ...withTest, '--lcov', '-')).exitCode, 2);
  });

  it('writes JSON, TAP, and JUnit', async () => {
    const { test, read } = await makeProject(files);
    const json = await test('bad.wasm', ...withTest, '--json', '--junit', 'report.xml');
    assert.deepEqual([json.exitCode, JSON.parse(json.stderr).error.code], [1, 'simulation_failed']);
    const { verdict, simulations } = json.json();
    assert.equal(verdict, 'failed');
    assert.ok(isValid(simulationReport, simulations[0]));
    assert.match(
      (await read('report.xml')) ?? '',
      /<testcase name="same length" classname="test.a group">\n *<failure /,
    );
    const tap = await test('good.wasm', ...withTest, '--tap');
    assert.match(
      tap.stdout,
      /^TAP version 14\n# Subtest: test\n {4}ok 1 - a group: same length\n {4}1\.\.1\nok 1 - test\n/,
    );
  });

  it('stops at the time limit, and by Ctrl-C', async () => {
    const { test, offline } = await makeProject(files);
    const late = await test('spin.wasm', ...withTest, '--time-limit', '200ms');
    assert.deepEqual([late.exitCode, late.stderr], [9, 'error: The simulation exceeded the time limit.\n']);
    assert.match(late.stdout, /timed out .*\n {2}It took longer than 200ms \(--time-limit\)\.\n$/);
    const controller = new AbortController();
    void setTimeout(300).then(() => controller.abort(interruptedError('SIGINT')));
    const args = ['plugin', 'test', 'spin.wasm', ...withTest];
    const stopped = await tenon(args, { ...offline, signal: controller.signal });
    assert.deepEqual([stopped.exitCode, stopped.stdout], [130, '']);
  });

  it('takes one test, and files that are there', async () => {
    const { test } = await makeProject(files);
    for (const [args, pattern] of [
      [['good.wasm'], /There is no test/],
      [['good.wasm', '--mock-input-data', 'x'], /needs a test module/],
      [['good.wasm', '--mock-host', 'x'], /A mock host needs a test/],
      [['good.wasm', ...withTest, '--fixtures', 'f.json'], /cannot be used with/],
      [['good.wasm', ...withTest, '--mock-input-file', 'f'], /cannot be used with/],
      [['good.wasm', ...withTest, '--watch', '--json'], /cannot be used with/],
      [['-', '--with', '-'], /Only one of the files/],
      [['-', ...withTest, '--watch'], /stdin is not one/],
    ] as const) {
      const { exitCode, stderr } = await test(...args);
      assert.deepEqual([exitCode, pattern.test(stderr)], [2, true], stderr);
    }
    assert.match(
      (await test('good.wasm', '--with', 'none.wasm')).stderr,
      /Cannot read the test module from .*none\.wasm/,
    );
    const invalid = await test('good.wasm', '--with', 'bad.wasm');
    assert.equal(invalid.exitCode, 1, 'a plugin is no test module');
  });
});

describe('tenon plugin test: fixtures', () => {
  it('passes what "plugin call --record" recorded, until the plugin changes', async () => {
    const { test, call, read } = await makeProject(files);
    const record = (input: string) => call('echo', '--module', 'good.wasm', '--input', input, '--record', 'f.json');
    assert.match((await record('Ada')).stderr, /Recorded in f\.json/);
    await record('Ελένη');
    assert.match((await record('Ada')).stderr, /f\.json has this call already/);
    assert.deepEqual(JSON.parse((await read('f.json')) ?? ''), [
      { export: 'echo', input: 'Ada', expect: { equals: 'Ada' } },
      { export: 'echo', input: 'Ελένη', expect: { equals: 'Ελένη' } },
    ]);
    assert.equal((await test('good.wasm', '--fixtures', 'f.json')).exitCode, 0);
    const bad = await test('bad.wasm', '--fixtures', 'f.json');
    assert.equal(bad.exitCode, 1);
    assert.match(bad.stdout, /expected "Ada", found "A"/);
  });

  it('says what is wrong with a file of fixtures', async () => {
    const { test, path } = await makeProject({
      ...files,
      'a.json': '[{"export": "echo", "expect": {"equal": "Ada"}}]',
      'b.json': '{"\\u001b[2J": 1',
      'c.json': '[]',
      'e.json': '[{"export": "echo", "expect": {"jsonSubset": {"id": 9007199254740993}}}]',
    });
    const rounded = await test('good.wasm', '--fixtures', 'e.json');
    assert.equal(rounded.exitCode, 7);
    assert.match(rounded.stderr, /\/0\/expect\/jsonSubset\/id must be between -2\^53 and 2\^53, .*`equals`/);
    const wrong = await test('good.wasm', '--fixtures', 'a.json');
    assert.deepEqual(
      [wrong.exitCode, /has no valid fixtures: 1 fault\n {2}\/0\/expect\/equal /.test(wrong.stderr)],
      [7, true],
    );
    await writeFile(join(path, 'd.json'), '[{"export": "echo", "input": "1", "expect": {"matchesSchema": true}}]');
    const schemaless = await test('good.wasm', '--fixtures', 'd.json');
    assert.deepEqual([schemaless.exitCode, /Name its file with --schema/.test(schemaless.stderr)], [2, true]);
    await writeFile(
      join(path, 'schema.yaml'),
      'exports: { echo: { input: { type: integer }, output: { type: integer } } }',
    );
    assert.equal((await test('good.wasm', '--fixtures', 'd.json', '--schema', 'schema.yaml')).exitCode, 0);
    for (const file of ['b.json', 'c.json']) {
      const { exitCode, stderr } = await test('good.wasm', '--fixtures', file);
      assert.deepEqual([exitCode, stderr.includes('\u001b')], [7, false], stderr);
    }
  });
});

/** As `xtp plugin init` writes it, with a shell for a compiler. */
const xtpToml = `app_id = "app_01j2bjr8xcfgqbnscn3eat8mr3"

# This is where 'xtp plugin push' expects to find the wasm file after the build script has run.
bin = "dist/plugin.wasm"
extension_point_id = "${newId('extensionPoint')}"
name = "tz"

[scripts]

  # xtp plugin build runs this script to generate the wasm file
  build = "mkdir -p dist && cp good.wasm dist/plugin.wasm"
  format = "go fmt"
  prepare = "go get ./..."

[[test]]
name = "basic"
build = "cp test.wasm dist/basic.wasm"
with = "dist/basic.wasm"
mock_input = { data = "this is my mock input data" }

[[test]]
name = "basic - file input"
build = "cp test.wasm dist/basic.wasm"
with = "dist/basic.wasm"
mock_input = { file = "xtp.toml" }
`;

describe('tenon plugin test: project files', () => {
  it('tests an unmodified xtp.toml project', async () => {
    const { test } = await makeProject({ ...files, 'xtp.toml': xtpToml });
    const early = await test();
    assert.deepEqual([early.exitCode, /Add --build to run it/.test(early.stderr)], [2, true], early.stderr);
    const { exitCode, stdout, stderr } = await test('--build');
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^✔ basic \([\s\S]*✔ basic - file input \([\s\S]*\n2 of 2 simulations passed\n$/);
    assert.equal(stderr.match(/^\$ /gm)?.length, 2, 'each command runs once');
    assert.equal((await test('bad.wasm')).exitCode, 1, 'another module');
    assert.equal((await test()).exitCode, 0, 'what is built is not built again');
  });

  it('prefers tenon.toml', async () => {
    const tenonToml = '[plugin]\nmodule = "bad.wasm"\n[[test]]\nwith = "test.wasm"\nmock-input = { data = "Ada" }\n';
    const { test } = await makeProject({ ...files, 'xtp.toml': xtpToml, 'tenon.toml': tenonToml });
    const { exitCode, stderr } = await test();
    assert.equal(exitCode, 1);
    assert.match(stderr, /^warning: tenon\.toml is used; the xtp\.toml beside it is ignored\.\n/);
  });

  it('runs no command and reads no file elsewhere for a hostile file', async () => {
    await writeFile(join(root.path, 'secret'), 'a private key');
    for (const [toml, pattern] of [
      ['bin = "../secret"\n[[test]]\nwith = "test.wasm"', /outside of its folder/],
      ['bin = "good.wasm"\n[[test]]\nwith = "../secret"', /outside of its folder/],
      ['bin = "good.wasm"\n[[test]]\nwith = "test.wasm"\nmock_host = "/etc/passwd"', /outside of its folder/],
      ['bin = "good.wasm"\n[[test]]\nwith = "test.wasm"\nmock_input = { file = "link" }', /outside of its folder/],
      ['bin = "good.wasm"\n[[test]]\nwith = "https://example.org/test.wasm"', /is a URL, which is not fetched/],
      ['bin = "https://example.org/code.wasm"\n[[test]]\nwith = "test.wasm"', /is a URL, which is not fetched/],
      ['bin = "new.wasm"\n[scripts]\nbuild = "touch ran"\n[[test]]\nwith = "test.wasm"', /Add --build/],
      ['bin = "good.wasm"\n[[test]]\nwith = "new.wasm"\nbuild = "touch ran"', /Add --build/],
      ['bin = "good.wasm"\n[[test]]\nwith = "."', /outside of its folder|not a file/],
      ['bin = "good.wasm"\n[[test]]\nname = "a\\u001b[2Jb"\nwith = "test.wasm"', /"test\.name" expects/],
    ] as const) {
      const { test, read, path } = await makeProject({ ...files, 'xtp.toml': toml });
      await symlink(join(root.path, 'secret'), join(path, 'link'));
      const { exitCode, stderr, stdout } = await test();
      assert.deepEqual([exitCode, pattern.test(stderr), stdout, await read('ran')], [2, true, '', undefined], stderr);
    }
  });
});
