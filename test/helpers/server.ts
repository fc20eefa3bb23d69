import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { raisedQuotas } from './raised-quotas.ts';

/** The root of the workspace. */
export const root = dirname(dirname(import.meta.dirname));

/** The file behind the command `tenon`. */
export const tenon = join(root, 'packages', 'cli', 'bin', 'tenon.mjs');

export interface RunningServer {
  /** A new folder: `tenon-data` below it is the server's, the rest is the test's. */
  readonly folder: string;
  /** What `quickstart.env` says. */
  readonly quickstart: Readonly<Record<string, string>>;
  /** What it has said until now. */
  output(): string;
  /** Waits until it has said something that a pattern fits: what a start tells comes after it has begun to answer. */
  says(pattern: RegExp): Promise<string>;
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it once more after that, with the same data and on the same port, and waits until it answers. */
  restart(): Promise<void>;
  /** Ends the server by SIGTERM and removes the folder; fails unless the server ends in order. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Further arguments of `tenon serve`: `--no-demo`. */
  readonly args?: readonly string[];
  /** Settings: `TENON_SIGN_UP` and the like. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Far longer than a start takes; two cores may be busy with other tests. */
const startLimitMs = 240_000;

/** Starts the server as a person does, in a process of its own with the demo's data, and waits until it answers. */
export async function startServer({ args = [], settings = {} }: StartOptions = {}): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-test-'));
  const quickstartFile = join(folder, 'tenon-data', 'quickstart.env');
  let output = '';
  let { child, ended } = launch('0');
  try {
    const quickstart = await untilReady(quickstartFile, () => child.exitCode !== null);
    return { folder, quickstart, output: () => output, says, kill, restart, stop };
  } catch (error) {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
    throw new Error(`The server did not start. It said:\n${output}`, { cause: error });
  }

  function launch(port: string) {
    const child = spawn(process.execPath, [tenon, 'serve', ...args], {
      cwd: folder,
      env: {
        ...withoutTenon(process.env),
        TENON_PORT: port,
        TENON_CREATE_APPS: 'all',
        TENON_QUOTAS: raisedQuotas,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
    return { child, ended };
  }

  async function says(pattern: RegExp): Promise<string> {
    for (const deadline = performance.now() + startLimitMs; performance.now() < deadline; await sleep(20)) {
      const [found] = pattern.exec(output) ?? [];
      if (found !== undefined) return found;
    }
    throw new Error(`The server did not say ${pattern} in time. It said:\n${output}`);
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }

  async function restart(): Promise<void> {
    const { TENON_URL = '' } = parseEnv(await readFile(quickstartFile, 'utf8'));
    ({ child, ended } = launch(new URL(TENON_URL).port));
    await untilReady(quickstartFile, () => child.exitCode !== null);
  }

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    await rm(folder, { recursive: true, force: true });
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, `The server said:\n${output}`);
  }
}

async function untilReady(file: string, hasEnded: () => boolean): Promise<Record<string, string>> {
  for (const deadline = performance.now() + startLimitMs; performance.now() < deadline; await sleep(50)) {
    if (hasEnded()) throw new Error('It ended');
    if (!existsSync(file)) continue;
    const values = parseEnv(await readFile(file, 'utf8')) as Record<string, string>;
    const response = await fetch(`${values.TENON_URL}/readyz`).catch(() => undefined);
    if (response?.ok) return values;
  }
  throw new Error('It was not ready in time');
}

/** The environment without what would configure a server or a client by accident: variables, and the user's logins. */
export function withoutTenon(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('TENON_'));
  return { ...Object.fromEntries(others), TENON_CONFIG_DIR: join(tmpdir(), 'tenon-without-logins') };
}

/** Makes a folder look like the root of a checkout to the shell lines of a page, which name files below it. */
export function linkCheckout(folder: string): void {
  for (const name of ['packages', 'examples', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name), 'junction');
}
