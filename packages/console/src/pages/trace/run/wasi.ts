import { ProgramExit } from './program-end.ts';
import { type Pointer, viewOf } from './wasm-memory.ts';

/*
 * WASI preview 1 for a program that has arguments, variables and three streams, a clock and random numbers, and nothing else: no file,
 * no folder, no network. https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md
 */

export interface WasiHost {
  /** The program's name comes first. */
  readonly args: readonly string[];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly stdin: Uint8Array;
  /** Takes a copy of what the program writes. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void;
  /** Nanoseconds since 1970-01-01 UTC. */
  wallClock(): bigint;
  /** Nanoseconds since some moment. */
  monotonicClock(): bigint;
  random(bytes: Uint8Array<ArrayBuffer>): void;
  /** Waits that many milliseconds. */
  sleep(ms: number): void;
}

/** The names under which programs import it; the older one differs in nothing that is here. */
export const wasiModules = ['wasi_snapshot_preview1', 'wasi_unstable'] as const;

const Errno = { success: 0, badf: 8, fault: 21, inval: 28, nosys: 52, notsup: 58, spipe: 70 } as const;

const Clock = { realtime: 0, monotonic: 1 } as const;
const characterDevice = 2;
const EventType = { clock: 0, fdRead: 1, fdWrite: 2 } as const;

type WasiFunction = (...args: never[]) => number | undefined;

/**
 * @param memory the program's memory, which is there only once it runs
 * @returns the functions to import, by name; others are {@link notImplemented}
 */
export function createWasi(host: WasiHost, memory: () => WebAssembly.Memory): ReadonlyMap<string, WasiFunction> {
  const view = (): DataView => viewOf(memory());
  const functions: Record<string, WasiFunction> = {
    ...textFunctions('args', host.args, view),
    ...textFunctions(
      'environ',
      host.env.map(([name, value]) => `${name}=${value}`),
      view,
    ),
    ...streamFunctions(host, view),
    ...timeFunctions(host, view),
    random_get(pointer: Pointer, length: number) {
      const { buffer, byteLength } = view();
      const [start, end] = [pointer >>> 0, (pointer >>> 0) + (length >>> 0)];
      if (end > byteLength) return Errno.fault;
      // So much is given at once: https://www.w3.org/TR/webcrypto-2/#Crypto-method-getRandomValues
      for (let at = start; at < end; at += 65_536) {
        const part = new Uint8Array(Math.min(65_536, end - at));
        host.random(part);
        new Uint8Array(buffer).set(part, at);
      }
      return Errno.success;
    },
    sched_yield: () => Errno.success,
    proc_exit(code: number) {
      throw new ProgramExit(code >>> 0);
    },
  };
  return new Map(Object.entries(functions).map(([name, call]) => [name, faulting(call)]));
}

/** What every other function of WASI answers. */
export function notImplemented(): number {
  return Errno.nosys;
}

/** A pointer past the end of the memory is the program's fault, and told to it. */
function faulting(call: WasiFunction): WasiFunction {
  return (...args) => {
    try {
      return call(...args);
    } catch (error) {
      if (error instanceof RangeError) return Errno.fault;
      throw error;
    }
  };
}

/** `args_*` and `environ_*`: a list of texts that end in a zero. */
function textFunctions(name: string, texts: readonly string[], view: () => DataView): Record<string, WasiFunction> {
  const encoded = texts.map((text) => new TextEncoder().encode(`${text.replaceAll('\0', '')}\0`));
  return {
    [`${name}_sizes_get`](countPointer: Pointer, bytesPointer: Pointer) {
      view().setUint32(countPointer >>> 0, encoded.length, true);
      view().setUint32(
        bytesPointer >>> 0,
        encoded.reduce((sum, { length }) => sum + length, 0),
        true,
      );
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

function streamFunctions(host: WasiHost, view: () => DataView): Record<string, WasiFunction> {
  const streams = ['stdin', 'stdout', 'stderr'] as const;
  const closed = new Set<number>();
  const streamOf = (fd: number) => (closed.has(fd) ? undefined : streams[fd]);
  let readTo = 0;
  return {
    fd_read(fd: number, list: Pointer, count: number, readPointer: Pointer) {
      if (streamOf(fd) !== 'stdin') return Errno.badf;
      let read = 0;
      for (const part of vectors(view(), list, count)) {
        const bytes = host.stdin.subarray(readTo, readTo + part.length);
        part.set(bytes);
        readTo += bytes.length;
        read += bytes.length;
      }
      view().setUint32(readPointer >>> 0, read, true);
      return Errno.success;
    },
    fd_write(fd: number, list: Pointer, count: number, writtenPointer: Pointer) {
      const stream = streamOf(fd);
      if (stream !== 'stdout' && stream !== 'stderr') return Errno.badf;
      let written = 0;
      for (const part of vectors(view(), list, count)) {
        if (part.length > 0) host.write(stream, part.slice());
        written += part.length;
      }
      view().setUint32(writtenPointer >>> 0, written, true);
      return Errno.success;
    },
    fd_fdstat_get(fd: number, pointer: Pointer) {
      if (streamOf(fd) === undefined) return Errno.badf;
      new Uint8Array(view().buffer).fill(0, pointer >>> 0, (pointer >>> 0) + 24);
      view().setUint8(pointer >>> 0, characterDevice);
      view().setBigUint64((pointer >>> 0) + 8, fd === 0 ? 0x2n : 0x40n, true); // the right to read, or to write
      return Errno.success;
    },
    fd_filestat_get(fd: number, pointer: Pointer) {
      if (streamOf(fd) === undefined) return Errno.badf;
      new Uint8Array(view().buffer).fill(0, pointer >>> 0, (pointer >>> 0) + 64);
      view().setUint8((pointer >>> 0) + 16, characterDevice);
      return Errno.success;
    },
    fd_close(fd: number) {
      if (streamOf(fd) === undefined) return Errno.badf;
      closed.add(fd);
      return Errno.success;
    },
    fd_fdstat_set_flags: (fd: number) => (streamOf(fd) === undefined ? Errno.badf : Errno.success),
    fd_seek: (fd: number) => (streamOf(fd) === undefined ? Errno.badf : Errno.spipe),
    fd_tell: (fd: number) => (streamOf(fd) === undefined ? Errno.badf : Errno.spipe),
    fd_sync: (fd: number) => (streamOf(fd) === undefined ? Errno.badf : Errno.inval),
    // There is no folder that a program could open anything in.
    fd_prestat_get: () => Errno.badf,
    fd_prestat_dir_name: () => Errno.badf,
    path_open: () => Errno.badf,
    path_filestat_get: () => Errno.badf,
    fd_readdir: () => Errno.badf,
    sock_shutdown: () => Errno.notsup,
  };
}

/** The buffers that a list of pairs of pointer and length speaks of. */
function* vectors({ buffer, byteLength }: DataView, list: Pointer, count: number): Generator<Uint8Array> {
  const view = new DataView(buffer);
  for (let index = 0; index < count >>> 0; index++) {
    const at = (list >>> 0) + 8 * index;
    const [start, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    if (start + length > byteLength) throw new RangeError('past the end of the memory');
    yield new Uint8Array(buffer, start, length);
  }
}

function timeFunctions(host: WasiHost, view: () => DataView): Record<string, WasiFunction> {
  const read = (clock: number): bigint | undefined => {
    if (clock === Clock.realtime) return host.wallClock();
    return clock <= 3 ? host.monotonicClock() : undefined; // the processor time of a program that has one thread
  };
  return {
    clock_res_get(clock: number, pointer: Pointer) {
      if (read(clock) === undefined) return Errno.inval;
      view().setBigUint64(pointer >>> 0, 5_000n, true);
      return Errno.success;
    },
    clock_time_get(clock: number, _precision: bigint, pointer: Pointer) {
      const now = read(clock);
      if (now === undefined) return Errno.inval;
      view().setBigUint64(pointer >>> 0, BigInt.asUintN(64, now), true);
      return Errno.success;
    },
    poll_oneoff(subscriptions: Pointer, events: Pointer, count: number, countPointer: Pointer) {
      if (count >>> 0 === 0) return Errno.inval;
      const list = Array.from({ length: Math.min(count >>> 0, 1024) }, (_, index) =>
        readSubscription(view(), (subscriptions >>> 0) + 48 * index, read),
      );
      const ready = list.filter(({ type }) => type !== EventType.clock);
      const first = list.reduce<Subscription | undefined>(
        (least, next) => (least === undefined || next.waitNano < least.waitNano ? next : least),
        undefined,
      );
      if (ready.length === 0 && first !== undefined) host.sleep(Number(first.waitNano) / 1e6);
      const happened = ready.length > 0 || first === undefined ? ready : [first];
      happened.forEach(({ userData, type }, index) => {
        const at = (events >>> 0) + 32 * index;
        new Uint8Array(view().buffer).fill(0, at, at + 32);
        view().setBigUint64(at, userData, true);
        view().setUint8(at + 10, type);
      });
      view().setUint32(countPointer >>> 0, happened.length, true);
      return Errno.success;
    },
  };
}

interface Subscription {
  readonly userData: bigint;
  readonly type: number;
  /** For a clock: so long from now. */
  readonly waitNano: bigint;
}

function readSubscription(view: DataView, at: number, read: (clock: number) => bigint | undefined): Subscription {
  const userData = view.getBigUint64(at, true);
  const type = view.getUint8(at + 8);
  if (type !== EventType.clock) return { userData, type, waitNano: 0n };
  const timeout = view.getBigUint64(at + 24, true);
  const isAbsolute = (view.getUint16(at + 40, true) & 1) === 1;
  const now = read(view.getUint32(at + 16, true)) ?? 0n;
  const wait = isAbsolute ? timeout - now : timeout;
  return { userData, type, waitNano: wait < 0n ? 0n : wait };
}
