import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { defaultSimulationLimits } from '@tenon/run-kit/simulation';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { runCalls } from '../src/testing/run-task.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';
import { wat } from './helpers/wat.ts';
import { type ZipEntry, zip } from './helpers/zip.ts';

/** Renders a text to itself and the context. Fails for `!…`, and never ends for `@…`. */
const generator = wat(`(module
  (import "extism:host/env" "input_offset" (func $input (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error (param i64)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func $copy (param $from i64) (param $to i64)
    (local $at i64)
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (call $length (local.get $from))))
      (call $store (i64.add (local.get $to) (local.get $at)) (call $load (i64.add (local.get $from) (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br $next))))
  (func (export "render") (result i32)
    (local $key i64) (local $context i64) (local $text i64) (local $first i32)
    (local.set $first (call $load (call $input)))
    (if (i32.eq (local.get $first) (i32.const 33)) (then (call $error (call $input)) (return (i32.const 1))))
    (if (i32.eq (local.get $first) (i32.const 64)) (then (loop $for_ever (br $for_ever))))
    (local.set $key (call $alloc (i64.const 3)))
    (call $store (local.get $key) (i32.const 99))
    (call $store (i64.add (local.get $key) (i64.const 1)) (i32.const 116))
    (call $store (i64.add (local.get $key) (i64.const 2)) (i32.const 120))
    (local.set $context (call $config (local.get $key)))
    (local.set $text (call $alloc (i64.add (call $length (call $input)) (call $length (local.get $context)))))
    (call $copy (call $input) (local.get $text))
    (call $copy (local.get $context) (i64.add (local.get $text) (call $length (call $input))))
    (call $output (local.get $text) (call $length (local.get $text)))
    (i32.const 0)))`);

const plugin: ZipEntry = { name: 'plugin.wasm', content: generator };
const config =
  'template-suffix: ejs\ndependencies:\n  - node\navailable-feature-flags:\n  - name: samples\n    description: |\n      Stubs.\n';
const binary = Uint8Array.from([0, 255, 128, 10]);
const good: readonly ZipEntry[] = [
  { name: 'bundle/', mode: 0o040_755 },
  { name: 'bundle/plugin.wasm', content: generator },
  { name: 'bundle/config.yaml', content: config },
  { name: 'bundle/template/src/main.ts.EJS', content: '// ', isStored: true },
  { name: 'bundle/template/xtp.toml.ejs', content: 'bin = "a.wasm"\n[scripts]\nprepare = "npm install"\n#' },
  { name: 'bundle/template/logo.png', content: binary },
  { name: 'bundle/template/empty.ejs.txt' },
];

const schema = {
  version: 'v1-draft',
  exports: { sum: { output: { type: 'string', contentType: 'application/json' } } },
};
let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let extensionPoint: string;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const setting = { stdin: JSON.stringify(schema), environment: { TENON_DATA_DIR: server.dataDir } };
  extensionPoint = (await runTenon(['ext', 'create', 'Sheets', '--schema', '-'], setting)).stdout.trim();
});

after(async () => {
  await server.stop();
  await folder.remove();
});

let made = 0;

/** Begins a plugin in a new folder, with a bundle of these entries or bytes. */
async function init(bundle: readonly ZipEntry[] | Uint8Array, args: readonly string[] = [], setting: Setting = {}) {
  made += 1;
  const [file, target] = [`bundle-${made}.zip`, `made-${made}`];
  await writeFile(join(folder.path, file), bundle instanceof Uint8Array ? bundle : zip(bundle));
  return { target, ...(await initWith(file, target, args, setting)) };
}

function initWith(bundle: string, target: string, args: readonly string[] = [], setting: Setting = {}) {
  const environment = { TENON_CONFIG_DIR: folder.path, TENON_DATA_DIR: join(folder.path, 'none') };
  const command = ['plugin', 'init', target, '--generator', bundle, ...args];
  return runTenon(command, { environment, workingFolder: folder.path, ...setting });
}

const read = (...names: string[]) => readFile(join(folder.path, ...names), 'utf8');

/** Checks that the bundle is refused, and that nothing is written anywhere. */
async function assertRefused(bundle: readonly ZipEntry[] | Uint8Array, message: RegExp): Promise<void> {
  const { exitCode, stderr, target } = await init(bundle);
  assert.match(stderr, message);
  assert.ok(exitCode === 7 || exitCode === 1, stderr);
  await assert.rejects(readdir(join(folder.path, target)), { code: 'ENOENT' });
  const others = (await readdir(folder.path)).filter((name) => !/^(bundle|made|repository|outside)/.test(name));
  assert.deepEqual(others, []);
}

describe('tenon plugin init --generator', () => {
  it('renders the files with the suffix, and copies the others', async () => {
    const environment = { TENON_DATA_DIR: server.dataDir };
    const args = ['--name', 'sums', '-e', extensionPoint, '--feature-flag', 'samples', '--json'];
    const { target, exitCode, stderr, json } = await init(good, args, { environment });
    assert.equal(exitCode, 0, stderr);
    assert.deepEqual(json().files, ['src/main.ts', 'xtp.toml', 'logo.png', 'empty.ejs.txt']);
    assert.deepEqual([json().template, json().generator, json().exports], [null, `bundle-${made}.zip`, ['sum']]);
    const main = await read(target, 'src', 'main.ts');
    assert.ok(main.startsWith('// {'), main);
    const context = JSON.parse(main.slice(3));
    assert.match(context.project.appId, /^app_/);
    assert.deepEqual(context, {
      schema,
      project: { name: 'sums', description: '', appId: context.project.appId, extensionPointId: extensionPoint },
      featureFlags: ['samples'],
    });
    assert.deepEqual(Uint8Array.from(await readFile(join(folder.path, target, 'logo.png'))), binary);
    assert.equal(await read(target, 'empty.ejs.txt'), '');
  });

  it('renders for the sample without an extension point, and adds a tenon.toml where no settings are', async () => {
    const prepared = await init(good);
    assert.match(
      prepared.stderr,
      / {2}add extension_point_id = "ext_…" to xtp\.toml\n {2}check the generated files, and run scripts\.prepare of xtp\.toml\n/,
    );
    const { target, exitCode, stderr } = await init([plugin, { name: 'template/greet.txt.ejs', content: '>' }]);
    assert.equal(exitCode, 0, stderr);
    const { schema, project } = JSON.parse((await read(target, 'greet.txt')).slice(1));
    assert.deepEqual(
      [schema.version, Object.keys(schema.exports), project.extensionPointId],
      ['v1-draft', ['greet'], ''],
    );
    assert.match(stderr, / {2}check the generated files\n/);
    assert.equal(await read(target, 'tenon.toml'), `[plugin]\nname = "${target}"\n`);
  });

  it('reads a folder, and overwrites nothing', async () => {
    const bundle = join(folder.path, 'bundle-folder');
    const files = {
      'plugin.wasm': generator,
      'config.yaml': 'template-suffix: .tpl',
      'template/a/b.tpl': 'x',
      'README.md': '',
    };
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(bundle, name)), { recursive: true });
      await writeFile(join(bundle, name), content);
    }
    assert.equal((await initWith('bundle-folder', 'made-of-folder')).exitCode, 0);
    assert.match(await read('made-of-folder', 'a', 'b'), /^x\{/);
    const again = await initWith('bundle-folder', 'made-of-folder');
    assert.equal(again.exitCode, 2);
    assert.match(again.stderr, /already\. Nothing was written/);
    await symlink('/etc/passwd', join(bundle, 'template', 'link'));
    assert.match((await initWith('bundle-folder', 'made-never')).stderr, /"template\/link" is a link or a device/);
  });

  it('refuses paths that lead elsewhere, name devices, or lie in .git', async () => {
    for (const [path, message] of [
      ['../outside', /"template\/\.\.\/outside" must be a path below the folder/],
      ['a/../../outside', /must be a path below/],
      ['/outside', /must be a path below/],
      ['a//b', /must be a path below/],
      ['..\\outside', /characters that file names must not have/],
      ['C:outside', /characters that file names/],
      ['a\u0000b', /characters that file names/],
      ['a\u202etxt', /characters that file names/],
      ['con.txt.ejs', /names a device/],
      ['sub/LPT1', /names a device/],
      ['a. ', /ends with a dot or a space/],
      ['.GIT/hooks/post-checkout', /lies in Git's folder/],
      ['...ejs', /must be a path below|ends with a dot/],
      ['.ejs', /must be a path below/],
      ['x'.repeat(500), /is longer than 400/],
    ] as const) {
      await assertRefused([plugin, { name: `template/${path}` }], message);
    }
    await assertRefused(
      [plugin, { name: '/etc/cron.d/x' }, { name: 'template/a' }],
      /"\/etc\/cron\.d\/x" must be a path/,
    );
    await assertRefused(
      [plugin, { name: 'template/a.txt' }, { name: 'template/A.txt.ejs' }],
      /It writes "a\.txt" and "A\.txt"/,
    );
    await assertRefused([plugin, { name: 'template/a' }, { name: 'template/a/b' }], /Cannot begin a plugin/);
    await assertRefused(
      [plugin, { name: 'template/a' }, { name: 'template/a' }],
      /it has "template\/a" and "template\/a"/,
    );
  });

  it('refuses archives that are hostile, huge or damaged', async () => {
    const file = (entry: Omit<ZipEntry, 'name'>) => [plugin, { name: 'template/a', ...entry }];
    await assertRefused(
      file({ content: '/etc/passwd', mode: 0o120_777 }),
      /"template\/a", which is a link or a device/,
    );
    await assertRefused(file({ isEncrypted: true }), /is encrypted/);
    await assertRefused(file({ claims: { method: 14 } }), /a method that is not supported/);
    await assertRefused(file({ content: 'abc', claims: { checksum: 1 } }), /has a damaged "template\/a"/);
    await assertRefused(file({ content: 'a'.repeat(9_000), claims: { size: 10 } }), /has a damaged/);
    await assertRefused(file({ claims: { name: 'template/b' } }), /has "template\/b" only in its directory/);
    await assertRefused(file({ claims: { size: 70 * 1024 ** 2 } }), /files of more than 67108864 bytes/);
    await assertRefused(file({ content: new Uint8Array(2 * 1024 ** 2) }), /by more than 1:200/);
    await assertRefused([plugin, { name: Buffer.from([0xff]) }], /a name that is not UTF-8/);
    const many = Array.from({ length: 2_001 }, (_, at) => ({ name: `template/${at}`, isStored: true }));
    await assertRefused(many, /has 2001 entries; the limit is 2000/);
    await assertRefused(Buffer.from('no archive'), /is not a ZIP archive/);
    const whole = zip(good);
    await assertRefused(whole.subarray(0, -30), /is not a ZIP archive, or is cut off/);
    await assertRefused(whole.subarray(100), /only in its directory|damaged|cut off/);
    await assertRefused([{ name: 'template/a' }], /it has no plugin\.wasm/);
    await assertRefused([plugin], /it has no files in template\//);
    const yaml = { name: 'config.yaml', content: 'template-suffix: [' };
    await assertRefused([plugin, yaml, { name: 'template/a' }], /its config\.yaml is invalid/);
    const commented = await init(zip([plugin, { name: 'template/a' }], 'a comment with PK\x05\x06'));
    assert.equal(commented.exitCode, 0, commented.stderr);
  });

  it('reports a generator that fails', async () => {
    const file = { name: 'template/a.ejs', content: '!no \u001b[31msuch export' };
    await assertRefused(
      [plugin, file],
      /Rendering template\/a\.ejs failed: the plugin reported an error: !no \\.*such export\.\n/,
    );
    await assertRefused([{ name: 'plugin.wasm', content: 'x' }, file], /The plugin is not a valid module/);
    await assertRefused([{ ...plugin, content: wat('(module)') }, file], /exports no function \\?"render/);
    const importing = wat('(module (import "extism:host/user" "read_file" (func)) (func (export "render")))');
    await assertRefused(
      [{ ...plugin, content: importing }, file],
      /imports extism:host\/user\.read_file, which is not provided/,
    );
    const { exitCode, stderr } = await init(good, ['--feature-flag', 'other']);
    assert.deepEqual([exitCode, stderr], [2, 'error: The generator has no feature flag "other". It has: samples.\n']);
    assert.equal((await init(good, ['--template', 'c'])).exitCode, 2);
    assert.equal((await initWith('missing.zip', 'made-never')).exitCode, 1);
  });

  it('stops a generator that never ends', async () => {
    const inputs = [Buffer.from('@')];
    const limits = { limits: defaultSimulationLimits, maxTotalBytes: 10 };
    const task = { plugin: generator, config: new Map(), exportName: 'render', inputs, ...limits };
    const { error } = await runCalls(task, { timeLimitMs: 50, signal: new AbortController().signal });
    assert.equal(error, 'it took longer than 50ms');
    const large = await runCalls(
      { ...task, inputs: [Buffer.from('123456'), Buffer.from('123456')] },
      { timeLimitMs: 60_000, signal: new AbortController().signal },
    );
    assert.equal(large.outputs.length, 1);
    assert.match(large.error ?? '', /larger than the limit of 10 bytes together/);
  });
});
