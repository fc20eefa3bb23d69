import { openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import process from 'node:process';
import type { WASI } from 'node:wasi';
import { type RunTask, signals } from './messages.ts';
import type { StandardInput } from './standard-input.ts';
import type { Stopper } from './stopper.ts';

/** What a program ends itself with. It unwinds the program, as Node.js's own does. */
export class ProgramExit extends Error {
  override readonly name = 'ProgramExit';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** WASI for one instance. */
export interface WasiHost {
  readonly imports: WebAssembly.ModuleImports;
  /** To be called once there is an instance, before anything of it is. */
  readonly attach: (memory: WebAssembly.Memory) => void;
  /** Closes what the program has left open, and its folders: nothing else ever does. */
  readonly close: () => void;
}

/** https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md#errno */
const errors = { fault: 21, io: 29, pipe: 64 } as const;

/** Loads Node.js's WASI. */
export function loadWasi(): Promise<typeof WASI> {
  return quietly(async () => (await import('node:wasi')).WASI);
}

/** Does something without Node.js's remark that WASI is experimental, which is for those who write programs with it. */
export function quietly<Result>(action: () => Result): Result {
  const { emitWarning } = process;
  const speakAgain = () => {
    process.emitWarning = emitWarning;
  };
  process.emitWarning = () => {};
  let result: Result;
  try {
    result = action();
  } catch (error) {
    speakAgain();
    throw error;
  }
  if (result instanceof Promise) result.then(speakAgain, speakAgain);
  else speakAgain();
  return result;
}

/** What is beside the task that a program is run by. */
export interface WasiSurroundings {
  readonly stdin: StandardInput;
  readonly stopper: Stopper;
  /** What Node.js's WASI has for stdin, which is read elsewhere: an open file that is empty. */
  readonly nothing: number;
}

/** Opens what stands for stdin where it is not read. */
export function openNothing(): number {
  return openSync(devNull, 'r');
}

/**
 * Node.js's WASI, but for three functions: `proc_exit` throws what can be told from a trap; stdin is read in a way that can be stopped;
 * and what is written to stdout and stderr is written whole, where Node.js has made these streams such that a full pipe refuses it.
 */
export function createWasiHost(
  Wasi: typeof WASI,
  version: 'preview1' | 'unstable',
  task: RunTask,
  { stdin, stopper, nothing }: WasiSurroundings,
): WasiHost {
  const wasi = quietly(
    () =>
      new Wasi({
        version,
        args: [task.programName, ...(task.program.kind === 'command' ? task.program.args : [])],
        env: task.environment,
        preopens: task.folders,
        stdin: nothing,
        stdout: 1,
        stderr: 2,
      }),
  );
  let memory: WebAssembly.Memory | undefined;
  const native = wasi.wasiImport as Record<'fd_close' | 'fd_read' | 'fd_write', (...args: number[]) => number>;
  const buffersAt = (vectors: number, count: number, sizeAt: number): Buffers | undefined =>
    memory && readVectors(memory, { vectors: vectors >>> 0, count: count >>> 0, sizeAt: sizeAt >>> 0 });
  return {
    imports: {
      ...(wasi.wasiImport as WebAssembly.ModuleImports),
      proc_exit(exitCode: number) {
        throw new ProgramExit(exitCode);
      },
      fd_read(fd: number, vectors: number, count: number, sizeAt: number): number {
        if (fd !== 0) return native.fd_read(fd, vectors, count, sizeAt);
        const buffers = buffersAt(vectors, count, sizeAt);
        if (buffers === undefined) return errors.fault;
        // A read may end with the first buffer that has room.
        const first = buffers.list.find(({ length }) => length > 0);
        buffers.setSize(first === undefined ? 0 : stdin.read(first));
        return 0;
      },
      fd_write(fd: number, vectors: number, count: number, sizeAt: number): number {
        if (fd !== 1 && fd !== 2) return native.fd_write(fd, vectors, count, sizeAt);
        const buffers = buffersAt(vectors, count, sizeAt);
        if (buffers === undefined) return errors.fault;
        const target = task.isStdoutTaken ? 2 : fd;
        let size = 0;
        for (const bytes of buffers.list) {
          const error = writeWhole(target, bytes, stopper);
          if (error !== 0) return error;
          size += bytes.length;
        }
        buffers.setSize(size);
        return 0;
      },
    },
    attach(found) {
      memory = found;
      wasi.finalizeBindings({ exports: {} }, { memory: found });
    },
    close() {
      if (memory === undefined) return;
      // Descriptors are given out from below. Those up to 2 are this process's own.
      for (let fd = 3, unused = 0; unused < maxUnused; fd++) unused = native.fd_close(fd) === 0 ? 0 : unused + 1;
    },
  };
}

/** After so many descriptors that are not in use, none is. */
const maxUnused = 64;

const retryMs = 5;

/** Writes all of it, and waits where a pipe is full. @returns WASI's error, or 0 */
function writeWhole(fd: number, bytes: Uint8Array, { shared, check }: Stopper): number {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written, bytes.length - written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return errors.pipe;
      if (code !== 'EAGAIN') return errors.io;
      check();
      // Nobody notifies this place while the program runs but to stop it, or when stdin has come.
      Atomics.wait(shared, signals.stdin, Atomics.load(shared, signals.stdin), retryMs);
    }
  }
  return 0;
}

/** Buffers in a program's memory, and where it is told how much of them was used. */
interface Buffers {
  readonly list: readonly Uint8Array[];
  readonly setSize: (size: number) => void;
}

interface Vectors {
  readonly vectors: number;
  readonly count: number;
  readonly sizeAt: number;
}

/** `undefined` where that is not in memory. */
function readVectors({ buffer }: WebAssembly.Memory, { vectors, count, sizeAt }: Vectors): Buffers | undefined {
  if (sizeAt + 4 > buffer.byteLength || vectors + count * 8 > buffer.byteLength) return undefined;
  const view = new DataView(buffer);
  const list: Uint8Array[] = [];
  for (let at = vectors; at < vectors + count * 8; at += 8) {
    const pointer = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    if (pointer + length > buffer.byteLength) return undefined;
    list.push(new Uint8Array(buffer, pointer, length));
  }
  return { list, setSize: (size) => view.setUint32(sizeAt, size, true) };
}
