import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { instrument } from '@tenon/instrument';
import type { Browser } from 'playwright-core';
import wabt from 'wabt';
import { exercise } from './engines/exercise.mjs';
import { openChromium } from './helpers/chromium.ts';

const root = dirname(import.meta.dirname);
const require = createRequire(import.meta.url);

const runModule = `(module
  (memory (export "memory") 1)
  (func $unseen)
  (func $fibonacci (export "fibonacci") (param i32) (result i32)
    (call $unseen)
    (if (i32.lt_u (local.get 0) (i32.const 2)) (then
      (drop (memory.grow (i32.const 1)))
      (return (local.get 0))))
    (i32.add
      (call $fibonacci (i32.sub (local.get 0) (i32.const 1)))
      (call $fibonacci (i32.sub (local.get 0) (i32.const 2))))))`;

let folder: string;
/** Where the built package's entry is. */
let entry: string;
let modules: Readonly<Record<string, string>>;
/** What every engine must say: what the sources say in this process. */
let expected: Awaited<ReturnType<typeof exercise>>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-built-'));
  const built = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--out', folder], {
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  entry = join(folder, 'instrument', 'index.js');
  modules = { run: join(folder, 'run.wasm'), sqlite: require.resolve('sql.js/dist/sql-wasm.wasm') };
  const { parseWat } = await wabt();
  const parsed = parseWat('run.wat', runModule);
  await writeFile(join(folder, 'run.wasm'), parsed.toBinary({ write_debug_names: true }).buffer);
  parsed.destroy();
  expected = await exercise(import.meta.resolve('@tenon/instrument'), await readModules());
});

after(() => rm(folder, { recursive: true, force: true }));

async function readModules(): Promise<Record<string, Uint8Array>> {
  const read = Object.entries(modules).map(async ([name, path]) => [name, new Uint8Array(await readFile(path))]);
  return Object.fromEntries(await Promise.all(read));
}

describe('npm run build', () => {
  it('makes a package that imports nothing but its own files', async () => {
    const files = (await readdir(dirname(entry))).filter((file) => /\.(js|d\.ts)$/.test(file));
    assert.ok(files.includes('index.js') && files.includes('index.d.ts'));
    assert.ok(!files.some((file) => file.includes('.test.')));
    for (const file of files) {
      const text = await readFile(join(dirname(entry), file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g)) {
        assert.match(specifier, /^\.\/[\w-]+\.js$/, `${file} imports ${specifier}`);
        assert.ok(files.includes(specifier.slice(2)), `${file} imports ${specifier}`);
      }
    }
  });

  it('makes declarations that a program for browsers compiles with', async () => {
    const program = join(folder, 'program');
    await mkdir(join(program, 'node_modules', '@tenon'), { recursive: true });
    await cp(dirname(entry), join(program, 'node_modules', '@tenon', 'instrument'), { recursive: true });
    const source = `import { instrument, type InstrumentReport, listFunctions } from '@tenon/instrument';
      const { bytes, report } = instrument(new Uint8Array(8), { allowed: ['a*'], patterns: true });
      export const size: number = bytes.length;
      export const traced: InstrumentReport['tracedFunctions'] = report.tracedFunctions;
      export const names: string[] = listFunctions(bytes).functions.map(({ name }) => name);
      // @ts-expect-error: no such option
      instrument(bytes, { allow: [] });`;
    await writeFile(join(program, 'program.ts'), source);
    await writeFile(join(program, 'package.json'), '{"type":"module"}');
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    for (const moduleResolution of ['bundler', 'nodenext']) {
      const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
      const options = ['--strict', '--noEmit', '--target', 'es2024', '--lib', 'es2024,dom', '--types', ''];
      const args = [compiler, ...options, '--module', module, '--moduleResolution', moduleResolution, 'program.ts'];
      const compiled = spawnSync(process.execPath, args, { cwd: program, encoding: 'utf8' });
      assert.equal(compiled.status, 0, compiled.stdout + compiled.stderr);
    }
  });
});

describe('@tenon/instrument, as built', () => {
  it('does in this Node.js what its sources do', async () => {
    assert.deepEqual(await exercise(new URL(`file://${entry}`).href, await readModules()), expected);
    assert.equal(expected.result, 2);
    assert.equal(expected.events.filter((event) => event.startsWith('enter')).length, 5);
    assert.equal(expected.events.filter((event) => event.startsWith('grow')).length, 3);
    assert.match(expected.refusal, /^invalid_module .+ \(at offset 0x[0-9a-f]+\)$/);
    assert.deepEqual(expected.names, ['unseen', 'fibonacci']);
    assert.ok(instrument(new Uint8Array(await readFile(modules.run ?? ''))).report.tracedFunctions > 0);
  });

  for (const { name, binary, args } of [
    { name: 'Deno', binary: denoBinary(), args: ['run', '--no-prompt', '--no-config', '--no-remote', '--allow-read'] },
    { name: 'Bun', binary: bunBinary(), args: ['run'] },
  ]) {
    it(`does the same in ${name}`, async (test) => {
      if (binary === undefined) {
        test.skip(`the registry has no ${name} for ${process.platform}-${process.arch}, or it is not installed`);
        return;
      }
      await chmod(binary, 0o755).catch(() => {}); // some package managers leave the bit out
      const files = Object.entries(modules).map(([name, path]) => `${name}=${path}`);
      const script = join(import.meta.dirname, 'engines', 'exercise-files.mjs');
      const { stdout } = await promisify(execFile)(binary, [...args, script, entry, ...files], { cwd: folder });
      assert.deepEqual(JSON.parse(stdout), expected);
    });
  }
});

describe('@tenon/instrument, as built, in Chromium', () => {
  let server: Server;
  let origin: string;
  let browser: Browser | string;

  before(async () => {
    server = createServer(async ({ url = '' }, response) => {
      const { pathname } = new URL(url, 'http://localhost');
      const file = served(pathname);
      if (file === undefined || !existsSync(file)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream' });
      response.end(await readFile(file));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await openChromium();
  });

  after(async () => {
    if (typeof browser !== 'string') await browser?.close();
    server.close();
    server.closeAllConnections();
  });

  const mediaTypes: Readonly<Record<string, string>> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.mjs': 'text/javascript',
    '.wasm': 'application/wasm',
  };

  function served(path: string): string | undefined {
    const [, place, name = ''] = /^\/(package|engines|modules)\/([\w.-]+)$/.exec(path) ?? [];
    if (place === 'package') return join(dirname(entry), name);
    if (place === 'engines') return join(import.meta.dirname, 'engines', name);
    return place === 'modules' ? modules[name] : undefined;
  }

  for (const place of ['page', 'worker'] as const) {
    it(`does the same in a ${place}`, async (test) => {
      if (typeof browser === 'string') {
        test.skip(browser);
        return;
      }
      const page = await browser.newPage();
      await page.goto(`${origin}/engines/page.html`);
      const found = await page.evaluate(runInPage, { place, names: Object.keys(modules) });
      await page.close();
      assert.deepEqual(found, expected);
    });
  }
});

// What the page has and Node.js has not.
declare const location: { readonly href: string };
declare const Worker: new (
  url: string,
  options: object,
) => {
  onmessage: (event: { readonly data: unknown }) => void;
  onerror: (event: { readonly message: string }) => void;
  postMessage: (task: object) => void;
};

/** Runs in the page. */
async function runInPage({ place, names }: { place: 'page' | 'worker'; names: string[] }): Promise<unknown> {
  const modules: Record<string, Uint8Array> = {};
  for (const name of names) {
    modules[name] = new Uint8Array(await (await fetch(`/modules/${name}`)).arrayBuffer());
  }
  const packageUrl = new URL('/package/index.js', location.href).href;
  if (place === 'page') {
    const { exercise } = await import(new URL('/engines/exercise.mjs', location.href).href);
    return exercise(packageUrl, modules);
  }
  const worker = new Worker('/engines/worker.mjs', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ packageUrl, modules });
  });
}

function denoBinary(): string | undefined {
  const { platform, arch } = process;
  const libc = platform === 'linux' ? '-glibc' : '';
  return installed(`@deno/${platform}-${arch}${libc}`, platform === 'win32' ? 'deno.exe' : 'deno');
}

function bunBinary(): string | undefined {
  const { platform, arch } = process;
  const system = platform === 'win32' ? 'windows' : platform;
  const processor = arch === 'arm64' ? 'aarch64' : arch;
  return installed(`@oven/bun-${system}-${processor}`, platform === 'win32' ? 'bin/bun.exe' : 'bin/bun');
}

function installed(name: string, file: string): string | undefined {
  const path = join(root, 'node_modules', name, file);
  return existsSync(path) ? path : undefined;
}
