import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { commands, numbers } from '../../packages/cli/test/helpers/trace-modules.ts';
import { compileWords, makeText, whyNoCompiler } from '../../packages/cli/test/helpers/words.ts';
import { chooseFile } from '../../packages/console/test/helpers/modules.ts';
import { noBrowser, openStage, type Stage, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { root, tenon } from '../helpers/server.ts';
import { wat } from '../helpers/wat.ts';

/*
 * A table of modules that run with `tenon trace` and on the console's page, in a real browser. Both must have the same
 * output, the same ending, and the same tree of calls.
 */

interface Case {
  readonly name: string;
  readonly bytes: () => Uint8Array | Promise<Uint8Array>;
  readonly skip?: string | false;
  /** Default: `_start`. */
  readonly invoke?: string;
  readonly args?: readonly string[];
  readonly input?: string;
  readonly config?: string;
  readonly environment?: string;
  /** Whether missing imports return zero. */
  readonly isStubbed?: boolean;
}

/** What a run comes to, by either way. */
interface Outcome {
  readonly output: string;
  readonly ending: string;
  /** Each call with its ancestors. */
  readonly calls: readonly string[];
  readonly failures: readonly string[];
  readonly initialPages: number | null;
}

interface FlameGraph {
  readonly names: readonly string[];
  readonly name: readonly number[];
  readonly parent: readonly number[];
  readonly failures: readonly (readonly [span: number, message: string])[];
  readonly initialPages: number | null;
}

const require = createRequire(import.meta.url);
const fromPackage = (path: string) => () => readFile(require.resolve(path));
const sample = () => readFile(join(root, 'packages/server/sample/greet.wasm'));

const kernel = (names: Readonly<Record<string, string>>, module = 'extism:host/env', prefix = '') =>
  Object.entries(names).map(([name, type]) => `(import "${module}" "${prefix}${name}" (func $${name} ${type}))`);
const get = '(param i64) (result i64)';
const usual = {
  ...{ alloc: get, length: get, input_offset: '(result i64)', output_set: '(param i64 i64)', error_set: '(param i64)' },
  ...{
    config_get: get,
    var_get: get,
    var_set: '(param i64 i64)',
    log_info: '(param i64)',
    load_u8: '(param i64) (result i32)',
  },
  ...{
    store_u8: '(param i64 i32)',
    store_u64: '(param i64 i64)',
    load_u64: get,
    http_request: '(param i64 i64) (result i64)',
  },
};
const plugin =
  (body: string, rest = '') =>
  () =>
    wat(`(module ${kernel(usual).join('\n')} ${rest}
    (func $answer (param i64) (result i32) (call $output_set (local.get 0) (call $length (local.get 0))) (i32.const 0))
    (func (export "run") (result i32) (local i64) ${body}))`);

/** Counts in a global how it was initialised, and puts out the order. */
const initialized = (exports: string) =>
  plugin(
    `(local.set 0 (call $alloc (i64.const 1))) (call $store_u8 (local.get 0) (i32.add (global.get $order) (i32.const 64))) (call $answer (local.get 0))`,
    `(global $order (mut i32) (i32.const 0))
     (func $note (param i32) (global.set $order (i32.add (i32.mul (global.get $order) (i32.const 3)) (local.get 0)))) ${exports}`,
  );

let folder: string;

const cases: readonly Case[] = [
  { name: 'the sample plugin, in C', bytes: sample, invoke: 'greet', input: 'Ada Løvelace' },
  { name: 'the same with a long input', bytes: sample, invoke: 'count_vowels', input: 'aeiou xyz '.repeat(50) },
  { name: 'the same without input', bytes: sample, invoke: 'greet' },
  {
    name: 'a WASI command in C',
    bytes: async () => readFile(await compileWords(folder)),
    skip: whyNoCompiler(),
    input: makeText(40).text,
  },
  {
    name: 'a plugin of the template in C',
    bytes: compileTemplate,
    skip: whyNoCompiler(),
    invoke: 'greet',
    input: 'Ada',
  },
  {
    name: 'AssemblyScript',
    bytes: fromPackage('@chainsafe/as-sha256/build/untouched.wasm'),
    invoke: 'digest',
    args: ['3'],
    isStubbed: true,
  },
  {
    name: 'C++ by Emscripten',
    bytes: fromPackage('sql.js/dist/sql-wasm-debug.wasm'),
    invoke: 'malloc',
    args: ['0x3e8'],
    isStubbed: true,
  },
  {
    name: 'Rust by wasm-bindgen',
    bytes: fromPackage('gecko-profiler-demangle/index_bg.wasm'),
    invoke: '__wbindgen_malloc',
    args: ['1_000', '1'],
    isStubbed: true,
  },
  { name: 'a function of numbers', bytes: () => numbers, invoke: 'grow', args: ['-5', '2.5e-1'] },
  {
    name: 'an unsigned argument',
    bytes: () => wat('(module (func (export "f") (param i32) (result i32) (local.get 0)))'),
    invoke: 'f',
    args: ['4294967295'],
  },
  { name: 'a trap', bytes: () => numbers, invoke: 'trap' },
  {
    name: 'an exception',
    bytes: () => wat('(module (tag $t) (func $deep (throw $t)) (func (export "f") (call $deep)))'),
    invoke: 'f',
  },
  { name: 'a command that reads', bytes: () => commands.copyStdin, input: 'some input\n'.repeat(30) },
  { name: 'a command that fails', bytes: () => commands.exit(3) },
  { name: 'a command with arguments', bytes: () => commands.writeArguments, args: ['--verbose', 'grüß'] },
  { name: 'a command with variables', bytes: () => commands.writeEnvironment, environment: 'A=b=c' },
  {
    name: 'configuration',
    bytes: plugin('(call $answer (call $config_get (call $input_offset)))'),
    invoke: 'run',
    input: 'city',
    config: 'city=Zürich',
  },
  {
    name: 'variables and logs',
    bytes: plugin(`(call $log_info (call $input_offset)) (call $var_set (call $input_offset) (call $input_offset))
      (call $answer (call $var_get (call $input_offset)))`),
    invoke: 'run',
    input: 'k',
  },
  {
    name: 'an error of a plugin',
    bytes: plugin('(call $error_set (call $input_offset)) (i32.const 1)'),
    invoke: 'run',
    input: 'no luck',
  },
  { name: 'a plugin that returns a number', bytes: plugin('(i32.const 7)'), invoke: 'run' },
  { name: 'a block of no bytes', bytes: plugin('(call $answer (call $alloc (i64.const 0)))'), invoke: 'run' },
  {
    name: 'a read beyond a block',
    bytes: plugin('(call $load_u8 (i64.add (call $alloc (i64.const 4)) (i64.const 4)))'),
    invoke: 'run',
  },
  {
    name: 'an HTTP request',
    bytes: plugin('(drop (call $http_request (i64.const 0) (i64.const 0))) (i32.const 0)'),
    invoke: 'run',
  },
  {
    name: 'a missing function of a host',
    bytes: () =>
      wat(
        '(module (import "extism:host/user" "ask" (func $ask (result i32))) (func (export "run") (result i32) (call $ask)))',
      ),
    invoke: 'run',
    isStubbed: true,
  },
  {
    name: 'names from before Extism 1.0',
    bytes: () =>
      wat(`(module
        ${kernel({ input_offset: '(result i64)', length: get, output_set: '(param i64 i64)', store_u32: '(param i64 i32)' }, 'env', 'extism_').join('\n')}
        (func (export "run") (result i32)
          (call $store_u32 (call $input_offset) (i32.const 0x41424344))
          (call $output_set (call $input_offset) (call $length (call $input_offset))) (i32.const 0)))`),
    invoke: 'run',
    input: 'xxxx and more',
  },
  {
    name: 'the constructors of C',
    bytes: initialized('(func (export "__wasm_call_ctors") (call $note (i32.const 1)))'),
    invoke: 'run',
  },
  {
    name: "Haskell's runtime",
    bytes: initialized(`(func (export "hs_init") (param i32 i32) (call $note (i32.const 1)))
      (func (export "_initialize") (call $note (i32.const 2)))`),
    invoke: 'run',
  },
];

async function compileTemplate(): Promise<Uint8Array> {
  const run = async (command: string, args: readonly string[], cwd: string) => {
    const child = spawn(command, args, { cwd, shell: args.length === 0, stdio: 'inherit' });
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, command);
  };
  const project = join(folder, 'greeter');
  await run(process.execPath, [tenon, 'plugin', 'init', project, '--template', 'c', '--json'], folder);
  const toml = await readFile(join(project, 'tenon.toml'), 'utf8');
  const setting = (name: string) => new RegExp(`^${name} = "(.+)"$`, 'm').exec(toml)?.[1] ?? assert.fail(toml);
  await run(setting('build'), [], project);
  return readFile(join(project, setting('module')));
}

/** The data of a page with a flame graph. */
function outcomeOf(page: string, { output, ending }: Pick<Outcome, 'output' | 'ending'>): Outcome {
  const json = /<script type="application\/json" id="trace">(.*?)<\/script>/s.exec(page)?.[1] ?? assert.fail(page);
  const { names, name, parent, failures, initialPages } = JSON.parse(json) as FlameGraph;
  const pathOf = (span: number): string => {
    const above = parent[span] ?? -1;
    return `${above === -1 ? '' : `${pathOf(above)} > `}${names[name[span] ?? 0]}`;
  };
  return {
    output,
    ending,
    calls: name.map((_, span) => pathOf(span)),
    failures: failures.map(([span, message]) => `${pathOf(span)}: ${message}`),
    initialPages,
  };
}

async function onCommandLine(module: string, one: Case): Promise<Outcome> {
  const { invoke, args = [], input = '', config, environment, isStubbed } = one;
  const graph = join(folder, 'graph.html');
  await rm(graph, { force: true });
  const options = [
    ...(invoke === undefined ? [] : ['--invoke', invoke, '--input', input]),
    ...(config === undefined ? [] : ['--plugin-config', config]),
    ...(environment === undefined ? [] : ['--env', environment]),
    ...(isStubbed ? ['--stub-imports'] : []),
  ];
  const shown = ['--min-duration', '0', '--format', 'html', '-o', graph];
  const child = spawn(process.execPath, [tenon, 'trace', module, ...options, ...shown, '--', ...args]);
  child.stdin.on('error', () => {}); // it may end without reading
  child.stdin.end(input);
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  const failed = /^error: The program (?:failed: (?<reason>.*)|exited with code (?<exit>\d+)\.)$/m.exec(stderr);
  assert.equal(failed === null, code === 0, stderr);
  const ending = failed?.groups?.reason ?? (failed === null ? 'success' : `exit ${failed.groups?.exit}`);
  return outcomeOf(await readFile(graph, 'utf8'), { output: stdout, ending });
}

async function inTheBrowser(visitor: Visitor, module: string, one: Case): Promise<Outcome> {
  const { page } = visitor;
  const { invoke = '_start', args = [], input, config, environment, isStubbed } = one;
  await visitor.open('/trace');
  await chooseFile(visitor, 'module.wasm', await readFile(module));
  const exported = page.getByLabel('Export to call');
  await exported.waitFor();
  const options = await exported.locator('option').allInnerTexts();
  await exported.selectOption({ index: options.findIndex((option) => option.startsWith(`${invoke}(`)) });
  if (invoke === '_start') await page.getByLabel('Program arguments').fill(args.map((arg) => `'${arg}'`).join(' '));
  else for (const [at, arg] of args.entries()) await page.getByLabel(`Argument ${at + 1}`).fill(arg);
  const inputField = page.locator('[name=input]');
  if (input !== undefined) await inputField.fill(input);
  if (config !== undefined) await page.getByLabel('Configuration').fill(config);
  if (environment !== undefined) await page.getByLabel('Environment').fill(environment);
  if (isStubbed) await page.getByLabel('Return zero').check();
  await page.getByLabel('Hide calls shorter than').fill('0');
  await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
  const result = page.locator('.trace-result');
  await result.waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save flame graph' }).click(),
  ]);
  const outputOf = async (title: string): Promise<string> => {
    const found = page.locator('.trace-output', { has: page.getByRole('heading', { name: title, exact: true }) });
    return (await found.count()) === 0 ? '' : ((await found.locator('pre').textContent()) ?? '');
  };
  const notice = await result.locator('.notice').first().innerText();
  const returned = /^Returned (.*)$/m.exec(notice)?.[1]?.replaceAll(/ \(\w+\)(?:, |$)/g, '\n') ?? '';
  const exit = /^Exited with code (\d+)$/m.exec(notice)?.[1];
  const reason = /^Failed\n+(.*), after /m.exec(notice)?.[1];
  return outcomeOf(await readFile(await saved.path(), 'utf8'), {
    output: `${await outputOf('Standard output')}${await outputOf('Output')}${returned}`,
    ending: reason ?? (exit === undefined ? 'success' : `exit ${exit}`),
  });
}

describe('a module that is traced on the command line and in the browser', { skip: noBrowser }, () => {
  let stage: Stage;
  let visitor: Visitor;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-alike-'));
    stage = await openStage();
    visitor = await stage.visitor({ acceptDownloads: true });
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    visitor.page.setDefaultTimeout(15_000);
    await visitor.open('/');
    await visitor.signIn(email, password);
  });

  after(async () => {
    await stage.close();
    await rm(folder, { recursive: true });
  });

  for (const one of cases) {
    it(`has the same result: ${one.name}`, { skip: one.skip ?? false }, async () => {
      const module = join(folder, 'module.wasm');
      await writeFile(module, await one.bytes());
      const expected = await onCommandLine(module, one);
      assert.ok(expected.calls.length > 0);
      assert.deepEqual(await inTheBrowser(visitor, module, one), visible(expected));
    });
  }
});

/** The page replaces characters that can't be seen. */
function visible(outcome: Outcome): Outcome {
  return { ...outcome, output: outcome.output.replaceAll('\0', '\ufffd') };
}
