import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { build, preview } from 'vite';
import { assertCompiles } from './helpers/assert-compiles.ts';
import { openChromium } from './helpers/chromium.ts';
import { type RunningServer, root, startServer } from './helpers/server.ts';

/*
 * The packages as those install them who have nothing but the server's URL: npm in empty folders outside of the source tree.
 */

const sample = join(root, 'packages', 'server', 'sample', 'greet.wasm');

let server: RunningServer;
let folder: string;
let url: string;

before(async () => {
  server = await startServer();
  url = server.quickstart.TENON_URL ?? '';
  folder = await mkdtemp(join(tmpdir(), 'tenon-offered-'));
});
after(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program without the variables that npm sets for this process. */
function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  return runWith({}, cwd, program, ...args);
}

async function runWith(variables: NodeJS.ProcessEnv, cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_(?!config_)|NODE_(?:OPTIONS|TEST)|TENON_)/.test(name)),
  );
  const { stdout } = await promisify(execFile)(program, args, {
    cwd,
    env: { ...env, ...server.quickstart, TENON_CONFIG_DIR: join(folder, 'config'), ...variables },
  });
  return stdout;
}

/** Makes an empty folder, and installs archives of the server in it. */
async function install(name: string, ...archives: string[]): Promise<string> {
  const place = join(folder, name);
  await mkdir(place);
  await writeFile(join(place, 'package.json'), '{"private":true,"type":"module"}');
  await run(place, 'npm', 'install', '--no-audit', '--no-fund', ...archives.map((file) => `${url}/packages/${file}`));
  return place;
}

interface Offered {
  readonly name: string;
  readonly versions: readonly { readonly file: string; readonly integrity: string }[];
}

async function offered(name: string): Promise<Offered['versions'][number]> {
  const { objects } = (await (await fetch(`${url}/packages`)).json()) as { readonly objects: readonly Offered[] };
  const [newest] = objects.find((each) => each.name === name)?.versions ?? [];
  assert.ok(newest, JSON.stringify(objects));
  return newest;
}

describe('@tenon/client, installed from a server', () => {
  it('has the listed integrity, no dependencies, and is installed again by its lock file', async () => {
    const { file, integrity } = await offered('@tenon/client');
    const place = await install('lock', file);
    const { packages } = JSON.parse(await readFile(join(place, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(packages), ['', 'node_modules/@tenon/client']);
    assert.equal(packages['node_modules/@tenon/client'].integrity, integrity);
    assert.equal(packages['node_modules/@tenon/client'].resolved, `${url}/packages/${file}`);
    await run(place, 'npm', 'ci', '--no-audit', '--no-fund', '--cache', join(folder, 'empty-cache'));
    const bytes = Buffer.from(await (await fetch(`${url}/packages/${file}`)).arrayBuffer());
    assert.equal(`sha512-${createHash('sha512').update(bytes).digest('base64')}`, integrity);
  });

  it('loads the demo plugin in a host', async () => {
    const place = await install('host', 'tenon-client.tgz');
    await writeFile(
      join(place, 'host.mjs'),
      `import { createClient } from '@tenon/client';
      import { diskStore } from '@tenon/client/disk';
      const { TENON_URL, TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY } = process.env;
      await using client = createClient({ baseUrl: TENON_URL, token: TENON_TOKEN, store: diskStore({ directory: 'plugins' }) });
      const key = { extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: TENON_GUEST_KEY };
      const { bindings } = await client.getBindings(key);
      const [name] = Object.keys(bindings);
      const module = await client.load({ ...key, name });
      console.log(JSON.stringify(WebAssembly.Module.exports(module).map((each) => each.name)));`,
    );
    assert.match(await run(place, process.execPath, 'host.mjs'), /"greet"/);
  });

  it('has types for both ways of finding modules', async () => {
    const archives = ['tenon-client.tgz', 'tenon-trace.tgz', 'tenon-instrument.tgz'];
    const place = await install('types', ...archives);
    await writeFile(
      join(place, 'program.ts'),
      `import { type Client, createClient } from '@tenon/client';
      import { instrument, type InstrumentResult } from '@tenon/instrument';
      import { start } from '@tenon/trace';
      import { type ExtismFunctions, extismFunctions } from '@tenon/trace/extism';
      import { treeText } from '@tenon/trace/formats';
      export const client: Client = createClient({ baseUrl: 'https://plugins.example', token: 'a' });
      export const result: InstrumentResult = instrument(new Uint8Array(8));
      export const context = start(await WebAssembly.compile(new Uint8Array(8)));
      export const functions: ExtismFunctions = extismFunctions(context);
      // What Extism declares: a host that has it needs no cast.
      export const asExtismTakesThem: { [module: string]: { [name: string]: (this: object, context: object, ...args: any[]) => any } } = functions;
      // @ts-expect-error: not a context of tracing
      extismFunctions({});
      export const text: (...args: Parameters<typeof treeText>) => string = treeText;
      // @ts-expect-error: no such option
      createClient({ baseUrl: 'https://plugins.example', token: 'a', cache: true });`,
    );
    assertCompiles(place, 'program.ts');
  });
});

describe('the command line, installed from a server', () => {
  it('runs with npx, without being installed', async () => {
    const place = join(folder, 'npx');
    await mkdir(place);
    const options = ['--yes', `--package=${url}/packages/tenon-cli.tgz`, '--cache', join(folder, 'npx-cache')];
    const printed = await run(place, 'npx', ...options, 'tenon', 'plugin', 'call', 'greet', '--module', sample);
    assert.equal(printed, 'Hello, !');
    assert.deepEqual(await readdir(place), []);
  });

  for (const name of ['this Node.js', 'node-22-linux-x64', 'node-24-linux-x64', 'node-24-linux-arm64']) {
    const binary = name.startsWith('node-')
      ? join(root, 'test', 'proof', 'node_modules', name, 'bin', 'node')
      : process.execPath;
    const isHere = existsSync(binary) && (!name.startsWith('node-') || name.endsWith(process.arch));
    it(`runs on ${name}`, { skip: !isHere || process.platform === 'win32' }, async () => {
      const prefix = join(folder, `prefix ${name}`);
      const args = ['--global', '--prefix', prefix, '--no-audit', '--no-fund'];
      await run(folder, 'npm', 'install', ...args, `${url}/packages/tenon-cli.tgz`);
      const tenon = (...words: string[]) => run(folder, binary, join(prefix, 'bin', 'tenon'), ...words);

      assert.match(await tenon('whoami'), /\S/);
      assert.match(await tenon('doctor'), /needs >=22\.16$/m);
      const { TENON_EXTENSION_POINT_ID = '', TENON_GUEST_KEY = '' } = server.quickstart;
      assert.match(await tenon('bindings', TENON_GUEST_KEY, '--extension-point', TENON_EXTENSION_POINT_ID), /greet/);
      const traced = join(folder, 'traced.wasm');
      await tenon('instrument', sample, '--output', traced);
      assert.match(await tenon('inspect', traced), /instrumented +yes/);
      assert.match(await tenon('trace', sample, '--invoke', 'greet', '--input', 'Ada'), /Hello, Ada!/);
      await publishFromEmptyFolder(name.replaceAll(/\W+/g, '-'), binary, join(prefix, 'bin', 'tenon'));
      for (const command of ['serve', 'admin']) {
        await assert.rejects(
          tenon(command, '--anything', 'else'),
          (error: { code: number; stderr: string }) => error.code === 2 && /has no server/.test(error.stderr),
        );
      }
    });
  }
});

/** What a guest does, from an empty folder to a published plugin, with the command line alone. */
async function publishFromEmptyFolder(name: string, binary: string, command: string): Promise<void> {
  const place = join(folder, `plugin-${name}`);
  await mkdir(place);
  const path = [dirname(binary), process.env.PATH].join(delimiter);
  const tenon = (...words: string[]) => runWith({ PATH: path }, place, binary, command, ...words);
  await tenon('plugin', 'init', '--template', 'assemblyscript', '--name', name, '--yes');
  assert.ok(existsSync(join(place, '.gitignore')));
  const toml = await readFile(join(place, 'tenon.toml'), 'utf8');
  assert.ok(toml.includes(`#   npm install --global ${url}/packages/tenon-cli.tgz\n`), toml);
  const source = join(place, 'assembly', 'index.ts');
  const stubs = await readFile(source, 'utf8');
  await writeFile(source, stubs.replace(/fail\(.*\s+return "";/, 'return input.toUpperCase() + "!";'));

  const trial = JSON.parse(await tenon('plugin', 'push', '--build', '--dry-run', '--json'));
  assert.deepEqual([trial.name, trial.version.number, trial.isNewVersion], [name, 1, true]);
  await assert.rejects(tenon('plugin', 'status'), (error: { code: number }) => error.code === 4);
  assert.equal(await tenon('plugin', 'call', 'greet', '--local', '--input', 'ada'), 'ADA!');
  assert.equal((await tenon('plugin', 'push')).trim(), trial.contentAddress);
  assert.equal(await tenon('plugin', 'call', 'greet', '--input', 'ada'), 'ADA!');
  const guestKey = server.quickstart.TENON_GUEST_KEY ?? '';
  assert.equal(await tenon('plugin', 'call', 'greet', '--guest', guestKey, '--input', 'eve'), 'EVE!');
}

describe('@tenon/instrument and @tenon/trace, installed from a server', () => {
  it('work in an app that Vite builds, in Chromium', async (test) => {
    const place = await install('app', 'tenon-instrument.tgz', 'tenon-trace.tgz');
    await mkdir(join(place, 'public'));
    await writeFile(join(place, 'public', 'answer.wasm'), answering);
    await writeFile(join(place, 'index.html'), '<!doctype html><script type="module" src="main.js"></script>');
    await writeFile(
      join(place, 'main.js'),
      `import { instrument } from '@tenon/instrument';
      import { start } from '@tenon/trace';
      const input = new Uint8Array(await (await fetch('/answer.wasm')).arrayBuffer());
      const spans = [];
      const exporter = { export: (some) => void spans.push(...some.map(({ name }) => name)) };
      const context = start(await WebAssembly.compile(instrument(input).bytes), {
        exporters: [exporter], spanFilter: { minDurationMicroseconds: 0 },
      });
      const { exports } = await context.instantiate({});
      const answer = exports.answer();
      await context.flush();
      document.title = 'answer ' + answer + ' ' + spans;`,
    );
    const browser = await openChromium();
    if (typeof browser === 'string') return test.skip(browser);
    try {
      await build({ root: place, configFile: false, logLevel: 'error', build: { target: 'esnext' } });
      const site = await preview({
        root: place,
        configFile: false,
        logLevel: 'error',
        preview: { port: 0, host: '127.0.0.1' },
      });
      try {
        const page = await browser.newPage();
        const errors: string[] = [];
        page.on('pageerror', (error) => errors.push(String(error)));
        const { port } = site.httpServer.address() as { readonly port: number };
        await page.goto(`http://127.0.0.1:${port}/`);
        await page.waitForFunction('document.title !== ""', undefined, { timeout: 20_000 }).catch(() => {});
        assert.deepEqual([await page.title(), errors], ['answer 42 answer', []]);
      } finally {
        await site.close();
      }
    } finally {
      await browser.close();
    }
  });
});

/** `(module (func (export "answer") (result i32) (i32.const 42)))` */
const answering = Buffer.from('0061736d010000000105016000017f03020100070a0106616e7377657200000a06010400412a0b', 'hex');
