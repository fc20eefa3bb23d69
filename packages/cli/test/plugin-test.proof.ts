import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createPlugin } from '@extism/extism';
import { createRecorder } from '@tenon/client/record';
import { borrowChromium } from '../../../test/helpers/chromium.ts';
import { formatJunit } from '../src/testing/junit.ts';
import { start } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { cuttingPlugin, echoPlugin, lengthTest } from './helpers/simulation-modules.ts';
import { tenon } from './helpers/streams.ts';
import { wat } from './helpers/wat.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const file = (name: string) => join(folder.path, name);
const test = (...args: string[]) => tenon(['plugin', 'test', ...args], { workingFolder: folder.path });

before(async () => {
  folder = await makeFolder();
  await writeFile(file('good.wasm'), echoPlugin());
  await writeFile(file('bad.wasm'), cuttingPlugin);
  await writeFile(file('test.wasm'), lengthTest);
});

after(() => folder.remove());

/** Names that say what parsers must not believe. */
const hostileFixtures = [
  '# SKIP',
  '1..0',
  'Bail out!',
  '<![CDATA[',
  ']]>&quot;"\'',
  '\u001b[2J\0\u202e',
  '\\# TODO',
].map((name) => ({ name, export: 'echo', input: 'Ada', expect: { equals: 'Ada' } }));

describe('tenon plugin test: reports', () => {
  before(() => writeFile(file('hostile.json'), JSON.stringify(hostileFixtures)));

  it('writes TAP that prove reads', async (context) => {
    for (const [module, isPassed] of [
      ['good.wasm', true],
      ['bad.wasm', false],
    ] as const) {
      // Debian's prove reads versions up to 13, which see subtests as other text.
      const tap = (await test(module, '--fixtures', 'hostile.json', '--tap')).stdout;
      await writeFile(file('report.tap'), tap.replace(/^TAP version 14\n/, 'TAP version 13\n'));
      const proved = await promisify(execFile)('prove', ['--exec', 'cat', file('report.tap')]).catch((error) => error);
      if (proved.code === 'ENOENT') return context.skip('there is no prove');
      const { stdout } = proved as { stdout: string };
      assert.ok(!/parse error|skipped|todo|bailout/i.test(stdout.replaceAll(file(''), '')), stdout);
      assert.match(
        stdout,
        isPassed ? /Files=1, Tests=1,[\s\S]*Result: PASS/ : /Failed 1\/1 subtests[\s\S]*Result: FAIL/,
      );
    }
  });

  it('writes JUnit that an XML parser reads', async () => {
    await test('bad.wasm', '--fixtures', 'hostile.json', '--junit', 'report.xml');
    const xml = await readFile(file('report.xml'), 'utf8');
    const lone = formatJunit({
      verdict: 'failed',
      file: '',
      contentAddress: '',
      simulations: [
        {
          ...{
            name: '\ud800\ufffe',
            revision: null,
            verdict: 'failed',
            detail: '\0]]>\uffff',
            assertions: [],
            calls: [],
          },
          ...{ log: [{ from: 'plugin', level: 'info', text: '\udc00<&' }], durationMs: 1, isCut: false },
        },
      ],
    });
    const { browser, release } = await borrowChromium();
    try {
      const page = await browser.newPage();
      const parsed: [string | undefined, string[]][] = await page.evaluate(
        `${JSON.stringify([xml, lone])}.map((text) => {
          const document = new DOMParser().parseFromString(text, 'application/xml');
          const cases = [...document.querySelectorAll('testcase')];
          return [document.querySelector('parsererror')?.textContent, cases.map((one) => one.getAttribute('name'))];
        })`,
      );
      assert.deepEqual(
        parsed.map(([fault]) => fault),
        [undefined, undefined],
      );
      assert.equal(parsed[0]?.[1]?.length, hostileFixtures.length);
      await page.close();
    } finally {
      release();
    }
  });
});

describe('tenon plugin test --watch', () => {
  it('runs again when the module, the test or the fixtures change, and ends by Ctrl-C', async () => {
    await writeFile(file('watched.wasm'), echoPlugin());
    const args = ['plugin', 'test', 'watched.wasm', '--with', 'test.wasm', '--mock-input-file', 'input', '--watch'];
    await writeFile(file('input'), 'Ada');
    const running = start(args, { cwd: folder.path });
    await running.says(/^✔ test/m);
    await writeFile(file('new.wasm'), cuttingPlugin);
    await rename(file('new.wasm'), file('watched.wasm'));
    await running.says(/✔ test[\s\S]*✖ test failed/);
    await writeFile(file('input'), 'A');
    await running.says(/✖ test failed[\s\S]*✔ test/);
    await writeFile(file('test.wasm'), 'this is no module');
    await running.says(/✖ test failed[\s\S]*✖ test failed/);
    await writeFile(file('test.wasm'), lengthTest);
    await running.says(/✖ test failed[\s\S]*✖ test failed[\s\S]*✔ test/);
    await setTimeout(1000);
    running.child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await running.ended;
    assert.equal(exitCode, 130);
    assert.equal(stdout.match(/^. test/gm)?.length, 5, 'once for each change');
    assert.match(stderr, /Changed: watched\.wasm\n/);
    assert.match(stderr, /Changed: input\n/);
  });

  it('builds again when a source changes, and not because of what it builds', async () => {
    const project = file('project');
    await mkdir(join(project, 'src'), { recursive: true });
    await writeFile(join(project, 'src', 'plugin.wasm'), echoPlugin());
    await writeFile(join(project, 'test.wasm'), lengthTest);
    const build = 'mkdir -p out && cp src/plugin.wasm out/plugin.wasm && echo built > out/log.txt';
    const toml = `[plugin]\nmodule = "out/plugin.wasm"\nbuild = "${build}"\n[[test]]\nwith = "test.wasm"\nmock-input = { data = "Ada" }\n`;
    await writeFile(join(project, 'tenon.toml'), toml);
    const running = start(['plugin', 'test', '--build', '--watch'], { cwd: project });
    await running.says(/^✔ test/m);
    await setTimeout(1000);
    await writeFile(join(project, 'src', 'plugin.wasm'), cuttingPlugin);
    await running.says(/✔ test[\s\S]*✖ test failed/);
    await setTimeout(1000);
    await writeFile(join(project, 'tenon.toml'), toml.replace('mkdir', 'exit 3; mkdir'));
    await setTimeout(2000);
    running.child.kill('SIGINT');
    const { stdout, stderr } = await running.ended;
    assert.equal(stdout.match(/^. test/gm)?.length, 2, stdout + stderr);
    assert.match(stderr, /Changed: tenon\.toml\n[\s\S]*The build ended with 3/);
    assert.equal(stderr.match(/^Changed: /gm)?.length, 2, stderr);
  });
});

/** `ask` passes its input and numbers to the host, and returns the answer, or else its input. `fail` reports its input as an error. */
const asking = ({ answer = '$found', number = -7 } = {}) =>
  wat(`(module
    (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (import "extism:host/env" "error_set" (func $error_set (param i64)))
    (import "extism:host/user" "lookup" (func $lookup (param i64 i64 i32 f64) (result i64)))
    (func (export "ask") (result i32) (local $input i64) (local $found i64)
      (local.set $input (call $input_offset))
      (local.set $found
        (call $lookup (local.get $input) (i64.const 9007199254740993) (i32.const ${number}) (f64.const nan)))
      (call $output_set (local.get ${answer}) (call $length (local.get ${answer})))
      (i32.const 0))
    (func (export "fail") (result i32) (call $error_set (call $input_offset)) (i32.const 1)))`);

describe('fixtures recorded in a host', () => {
  it('pass with the plugin, and fail with one that behaves differently', async () => {
    const recorder = createRecorder();
    type Context = { read: (at: bigint) => { text: () => string } | null; store: (text: string) => bigint };
    const functions = {
      'extism:host/user': {
        lookup: (context: Context, at: bigint) => context.store(`found ${context.read(at)?.text()}`),
      },
    };
    const original = asking();
    const create = (wrapped: object) =>
      createPlugin({ wasm: [{ data: new Uint8Array(original) }] }, { functions: wrapped as typeof functions });
    const plugin = await recorder.record(create, functions);
    await plugin.call('ask', 'Ada');
    await plugin.call('ask', 'Ελένη');
    await assert.rejects(plugin.call('fail', 'no such user'));
    await plugin.close();
    await writeFile(file('recorded.json'), JSON.stringify(recorder.fixtures));
    await writeFile(file('original.wasm'), original);
    const same = await test('original.wasm', '--fixtures', 'recorded.json');
    assert.equal(same.exitCode, 0, same.stdout);
    for (const [name, pattern] of [
      ['answers', /expected "found Ada", found "Ada"/],
      ['arguments', /lookup/],
    ] as const) {
      await writeFile(file('changed.wasm'), name === 'answers' ? asking({ answer: '$input' }) : asking({ number: -8 }));
      const changed = await test('changed.wasm', '--fixtures', 'recorded.json');
      assert.deepEqual([changed.exitCode, pattern.test(changed.stdout)], [1, true], changed.stdout);
    }
  });
});
