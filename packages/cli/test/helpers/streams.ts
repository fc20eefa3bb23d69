import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import type { Environment } from '../../src/environment.ts';
import type { Io } from '../../src/io.ts';
import { run } from '../../src/run.ts';
import { runShell } from '../../src/run-shell.ts';
import { sleep } from '../../src/sleep.ts';

/** A stream that keeps what is written to it. */
export class Capture extends Writable {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly #chunks: Buffer[] = [];

  constructor(isTTY = false, columns?: number) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk));
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString();
  }
}

export interface Setting {
  readonly environment?: Environment;
  readonly stdin?: string | Uint8Array;
  /** Whether stdin, stdout and stderr are a terminal. */
  readonly isTerminal?: boolean;
  /** The terminal's width. */
  readonly columns?: number;
  readonly fetch?: Io['fetch'];
  readonly signal?: AbortSignal;
  readonly platform?: NodeJS.Platform;
  /** What opens a page. By default there is no browser. */
  readonly openBrowser?: Io['openBrowser'];
  readonly sleep?: Io['sleep'];
  readonly workingFolder?: string;
}

/** The outside world of one command, none of which is this process's. */
export function createIo(setting: Setting = {}) {
  const { environment = {}, stdin = '', isTerminal = false, signal } = setting;
  const stdout = new Capture(isTerminal, setting.columns);
  const stderr = new Capture(isTerminal, setting.columns);
  const io: Io = {
    stdin: Object.assign(Readable.from([Buffer.from(stdin)], { objectMode: false }), { isTTY: isTerminal }),
    stdout,
    stderr,
    environment,
    fetch: setting.fetch ?? globalThis.fetch,
    nowMs: () => performance.now(),
    clockMs: () => Date.now(),
    sleep: setting.sleep ?? sleep,
    randomBytes,
    platform: setting.platform ?? process.platform,
    workingFolder: setting.workingFolder ?? process.cwd(),
    hostName: 'test-machine',
    openBrowser: setting.openBrowser ?? (() => Promise.reject(new Error('no browser'))),
    runShell: (line, folder, signal) =>
      runShell(line, { folder, environment: { ...process.env, ...environment }, signal }),
    interruptible: (work) => work(signal ?? new AbortController().signal),
  };
  return { io, stdout, stderr };
}

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
  /** What was written to stdout, read as JSON. */
  readonly json: () => ReturnType<typeof JSON.parse>;
}

/** Runs one command line in this process. */
export async function tenon(args: readonly string[], setting: Setting = {}): Promise<Outcome> {
  const { io, stdout, stderr } = createIo(setting);
  const exitCode = await run(args, io);
  return {
    exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    bytes: stdout.bytes,
    json: () => JSON.parse(stdout.text),
  };
}
