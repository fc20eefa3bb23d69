import { wasiFunctions } from '@tenon/extension-schema/host-imports';
import { ProgramExit } from './ending.ts';
import {
  Errno,
  type Pointer,
  type Wasi,
  type WasiFunction,
  type WasiModule,
  type WasiOptions,
} from './wasi-interface.ts';
import { createPoll } from './wasi-poll.ts';

/*
 * WASI preview 1 without files and sockets: arguments, variables, three streams, clocks, random numbers.
 * https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md
 *
 * It is our own, because browsers and the command line must give the same result, and be able to stop a program that waits. The shims that exist
 * wait in ways that can't be stopped, and take clocks and random numbers from the platform. The command line forwards calls that take a path, or
 * a descriptor above 2, to `node:wasi`.
 */

const characterDevice = 2;
/** `filestat` without its last 8 bytes, which the older version doesn't have. They are 0 for a stream anyway. */
const filestatBytes = 56;

export function createWasi(module: WasiModule, options: WasiOptions): Wasi {
  let memory: WebAssembly.Memory | undefined;
  const view = (): DataView => {
    if (memory === undefined) throw new RangeError('the module has no memory');
    return new DataView(memory.buffer);
  };
  const variables = Object.entries(options.environment).map(([name, value]) => `${name}=${value}`);
  const random = options.random ?? ((bytes) => void crypto.getRandomValues(bytes));
  const functions: Record<string, WasiFunction> = {
    ...textFunctions('args', options.args, view),
    ...textFunctions('environ', variables, view),
    ...streamFunctions(options, view),
    ...createPoll(options, view, module === 'wasi_unstable'),
    random_get(pointer: Pointer, length: number) {
      const { buffer, byteLength } = view();
      const [start, end] = [pointer >>> 0, (pointer >>> 0) + (length >>> 0)];
      if (end > byteLength) return Errno.fault;
      // Browsers give at most 64 KiB at once: https://www.w3.org/TR/webcrypto-2/#Crypto-method-getRandomValues
      for (let at = start; at < end; at += 65_536) {
        const part = new Uint8Array(Math.min(65_536, end - at));
        random(part);
        new Uint8Array(buffer).set(part, at);
      }
      return Errno.success;
    },
    sched_yield: () => Errno.success,
    proc_exit(code: number) {
      throw new ProgramExit(code >>> 0);
    },
  };
  const missing = wasiFunctions.map((name) => [name, () => Errno.nosys]);
  const available = Object.entries(functions).map(([name, call]) => [name, returningFaults(call)]);
  return {
    imports: Object.fromEntries([...missing, ...available]),
    attach(found) {
      memory = found;
    },
    close() {},
  };
}

/** Returns `fault` for an address past the end of the memory. */
function returningFaults(call: WasiFunction): WasiFunction {
  return (...args) => {
    try {
      return call(...args);
    } catch (error) {
      if (error instanceof RangeError) return Errno.fault;
      throw error;
    }
  };
}

/** `args_*` and `environ_*`: a list of texts, each with a zero at its end. */
function textFunctions(name: string, texts: readonly string[], view: () => DataView): Record<string, WasiFunction> {
  const encoded = texts.map((text) => new TextEncoder().encode(`${text.replaceAll('\0', '')}\0`));
  const totalBytes = encoded.reduce((sum, { length }) => sum + length, 0);
  return {
    [`${name}_sizes_get`](countPointer: Pointer, bytesPointer: Pointer) {
      view().setUint32(countPointer >>> 0, encoded.length, true);
      view().setUint32(bytesPointer >>> 0, totalBytes, true);
      return Errno.success;
    },
    [`${name}_get`](listPointer: Pointer, textPointer: Pointer) {
      let at = textPointer >>> 0;
      encoded.forEach((text, index) => {
        view().setUint32((listPointer >>> 0) + 4 * index, at, true);
        new Uint8Array(view().buffer).set(text, at);
        at += text.length;
      });
      return Errno.success;
    },
  };
}

function streamFunctions(options: WasiOptions, view: () => DataView): Record<string, WasiFunction> {
  const streams = ['stdin', 'stdout', 'stderr'] as const;
  const closed = new Set<number>();
  const streamOf = (fd: number) => (closed.has(fd) ? undefined : streams[fd]);
  const fileType = (fd: number) => (options.isTerminal(fd) ? characterDevice : 0);
  const ifOpen = (errno: number) => (fd: number) => (streamOf(fd) === undefined ? Errno.badf : errno);
  const noFolder = () => Errno.badf;
  return {
    fd_read(fd: number, list: Pointer, count: number, sizePointer: Pointer) {
      if (streamOf(fd) !== 'stdin') return Errno.badf;
      const parts = vectors(view(), list, count);
      // One read for all vectors: a second one could wait although the first has returned data.
      const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
      const size = bytes.length === 0 ? 0 : options.read(bytes);
      let from = 0;
      for (const part of parts) {
        part.set(bytes.subarray(from, Math.min(size, from + part.length)));
        from = Math.min(size, from + part.length);
      }
      view().setUint32(sizePointer >>> 0, size, true);
      return Errno.success;
    },
    fd_write(fd: number, list: Pointer, count: number, sizePointer: Pointer) {
      const stream = streamOf(fd);
      if (stream !== 'stdout' && stream !== 'stderr') return Errno.badf;
      let size = 0;
      for (const part of vectors(view(), list, count)) {
        const errno = part.length === 0 ? 0 : options.write(stream, part);
        if (errno !== 0) return errno;
        size += part.length;
      }
      view().setUint32(sizePointer >>> 0, size, true);
      return Errno.success;
    },
    fd_fdstat_get(fd: number, pointer: Pointer) {
      if (streamOf(fd) === undefined) return Errno.badf;
      new Uint8Array(view().buffer).fill(0, pointer >>> 0, (pointer >>> 0) + 24);
      view().setUint8(pointer >>> 0, fileType(fd));
      view().setBigUint64((pointer >>> 0) + 8, fd === 0 ? 0x2n : 0x40n, true); // the right to read, or to write
      return Errno.success;
    },
    fd_filestat_get(fd: number, pointer: Pointer) {
      if (streamOf(fd) === undefined) return Errno.badf;
      new Uint8Array(view().buffer).fill(0, pointer >>> 0, (pointer >>> 0) + filestatBytes);
      view().setUint8((pointer >>> 0) + 16, fileType(fd));
      return Errno.success;
    },
    fd_close(fd: number) {
      if (streamOf(fd) === undefined) return Errno.badf;
      closed.add(fd);
      return Errno.success;
    },
    fd_fdstat_set_flags: ifOpen(Errno.success),
    fd_seek: ifOpen(Errno.spipe),
    fd_tell: ifOpen(Errno.spipe),
    fd_sync: ifOpen(Errno.inval),
    fd_prestat_get: noFolder,
    fd_prestat_dir_name: noFolder,
    fd_readdir: noFolder,
    path_open: noFolder,
    path_filestat_get: noFolder,
    sock_shutdown: () => Errno.notsup,
  };
}

/** The buffers that a list of addresses and lengths describes. */
function vectors({ buffer, byteLength }: DataView, list: Pointer, count: number): Uint8Array[] {
  const start = list >>> 0;
  const view = new DataView(buffer, start, 8 * (count >>> 0));
  return Array.from({ length: count >>> 0 }, (_, index) => {
    const [address, length] = [view.getUint32(8 * index, true), view.getUint32(8 * index + 4, true)];
    if (address + length > byteLength) throw new RangeError('past the end of the memory');
    return new Uint8Array(buffer, address, length);
  });
}
