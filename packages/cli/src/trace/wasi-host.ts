import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import process from 'node:process';
import type { WASI } from 'node:wasi';
import type { RunTask } from './messages.ts';
import type { StandardInput } from './standard-input.ts';

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
  readonly attach: (instance: WebAssembly.Instance) => void;
}

const badPointer = 21; // efault: https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md#errno

/** Loads Node.js's WASI without its remark that it is experimental, which is for who writes programs with it. */
export async function loadWasi(): Promise<typeof WASI> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return (await import('node:wasi')).WASI;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Node.js's WASI, but for two things: `proc_exit` throws what can be told from a trap, and stdin is read in a way that can be
 * stopped.
 */
export function createWasiHost(
  Wasi: typeof WASI,
  version: 'preview1' | 'unstable',
  task: RunTask,
  stdin: StandardInput,
): WasiHost {
  const args = task.program.kind === 'command' ? task.program.args : [];
  const { emitWarning } = process;
  process.emitWarning = () => {};
  const wasi = new Wasi({
    version,
    args: [task.programName, ...args],
    env: task.environment,
    preopens: task.folders,
    stdin: openSync(devNull, 'r'),
    stdout: task.isStdoutTaken ? 2 : 1,
    stderr: 2,
  });
  process.emitWarning = emitWarning;
  let memory: WebAssembly.Memory | undefined;
  const readNative = wasi.wasiImport.fd_read as (...args: number[]) => number;
  return {
    imports: {
      ...(wasi.wasiImport as WebAssembly.ModuleImports),
      proc_exit(exitCode: number) {
        throw new ProgramExit(exitCode);
      },
      fd_read(fd: number, vectors: number, vectorCount: number, sizeAt: number): number {
        if (fd !== 0 || memory === undefined) return readNative(fd, vectors, vectorCount, sizeAt);
        return readInto(memory, stdin, {
          vectors: vectors >>> 0,
          vectorCount: vectorCount >>> 0,
          sizeAt: sizeAt >>> 0,
        });
      },
    },
    attach({ exports }) {
      if (!(exports.memory instanceof WebAssembly.Memory)) throw new Error('a program for WASI exports its memory');
      memory = exports.memory;
      wasi.finalizeBindings({ exports });
    },
  };
}

interface Read {
  readonly vectors: number;
  readonly vectorCount: number;
  readonly sizeAt: number;
}

/** Fills the first buffer that has room, which a read may leave at. */
function readInto(memory: WebAssembly.Memory, stdin: StandardInput, { vectors, vectorCount, sizeAt }: Read): number {
  const { buffer } = memory;
  if (sizeAt + 4 > buffer.byteLength || vectors + vectorCount * 8 > buffer.byteLength) return badPointer;
  const view = new DataView(buffer);
  let size = 0;
  for (let at = 0; at < vectorCount; at++) {
    const pointer = view.getUint32(vectors + at * 8, true);
    const length = view.getUint32(vectors + at * 8 + 4, true);
    if (pointer + length > buffer.byteLength) return badPointer;
    if (length === 0) continue;
    size = stdin.read(new Uint8Array(buffer, pointer, length));
    break;
  }
  view.setUint32(sizeAt, size, true);
  return 0;
}
