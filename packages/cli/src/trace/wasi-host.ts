import { openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import process from 'node:process';
import { isatty } from 'node:tty';
import type { WASI } from 'node:wasi';
import { createWasi, type Stopper, sleep, type Wasi, type WasiModule } from '@tenon/run-kit';
import { signals, type ThreadTask } from './messages.ts';
import type { StandardInput } from './standard-input.ts';

/** https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md#errno */
const errors = { io: 29, pipe: 64 } as const;

/** Loads Node.js's WASI without its warning that WASI is experimental, which is for authors of programs that use it. */
export async function loadWasi(): Promise<typeof WASI> {
  return withoutWarnings(async () => (await import('node:wasi')).WASI);
}

async function withoutWarnings<Result>(action: () => Promise<Result>): Promise<Result> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return await action();
  } finally {
    process.emitWarning = emitWarning;
  }
}

interface Surroundings {
  readonly stdin: StandardInput;
  readonly stopper: Stopper;
  readonly flags: Int32Array;
}

type Native = Record<string, (...args: number[]) => number>;

/**
 * WASI for the command line. Files and folders are Node.js's. Everything else is run-kit's: its streams, clocks and waits
 * can be stopped, and its `proc_exit` can be distinguished from a trap.
 */
export function createWasiHost(
  NodeWasi: typeof WASI,
  module: WasiModule,
  task: ThreadTask,
  { stdin, stopper, flags }: Surroundings,
): Wasi {
  const { args, environment, folders, isStdoutTaken } = task;
  nothing ??= openSync(devNull, 'r');
  const files = new NodeWasi({
    version: module === 'wasi_unstable' ? 'unstable' : 'preview1',
    preopens: folders,
    stdin: nothing,
  });
  const native = files.wasiImport as Native;
  const own = createWasi(module, {
    args,
    environment,
    read: stdin.read,
    write: (stream, bytes) => writeWhole(stream === 'stderr' || isStdoutTaken ? 2 : 1, bytes, stopper, flags),
    isTerminal: (fd) => isatty(fd === 1 && isStdoutTaken ? 2 : fd),
    sleep(ms) {
      sleep(ms, flags);
      stopper();
    },
  });
  const streams = own.imports as Native;
  const merged = Object.keys(streams).map((name) => {
    const [ours, theirs] = [streams[name], native[name]];
    if (!name.startsWith('fd_')) return [name, name.startsWith('path_') ? theirs : ours];
    return [name, (fd: number, ...rest: number[]) => (fd >>> 0 <= 2 ? ours : theirs)?.(fd, ...rest)];
  });
  let isAttached = false;
  return {
    imports: Object.fromEntries(merged),
    attach(memory) {
      own.attach(memory);
      files.finalizeBindings({ exports: {} }, { memory });
      isAttached = true;
    },
    close() {
      // Descriptors are assigned from below. Those up to 2 belong to this process.
      for (let fd = 3, unused = 0; isAttached && unused < maxUnused; fd++) {
        unused = native.fd_close?.(fd) === 0 ? 0 : unused + 1;
      }
    },
  };
}

/** An empty file for Node.js's WASI, which doesn't read stdin here. */
let nothing: number | undefined;

/** After this many unused descriptors, all further ones are unused. */
const maxUnused = 64;

const retryMs = 5;

/** Writes all bytes, and waits while a pipe is full. @returns WASI's error number, or 0 */
function writeWhole(fd: number, bytes: Uint8Array, stopper: Stopper, flags: Int32Array): number {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written, bytes.length - written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return errors.pipe;
      if (code !== 'EAGAIN') return errors.io;
      stopper();
      Atomics.wait(flags, signals.stop, 0, retryMs);
    }
  }
  return 0;
}
