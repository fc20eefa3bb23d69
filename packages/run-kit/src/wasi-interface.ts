/** Preview 1, and the version before it, which differs in few types. */
export const wasiModules = ['wasi_snapshot_preview1', 'wasi_unstable'] as const;
export type WasiModule = (typeof wasiModules)[number];

export type StreamName = 'stdout' | 'stderr';

/** WASI for one instance. */
export interface Wasi {
  readonly imports: WebAssembly.ModuleImports;
  /** Call it after instantiation, before any export. */
  readonly attach: (memory: WebAssembly.Memory) => void;
  /** Releases what the instance has opened. */
  readonly close: () => void;
}

export interface WasiOptions {
  /** The program's name comes first. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Waits for input and copies it. Returns the number of bytes, 0 at the end. */
  readonly read: (into: Uint8Array) => number;
  /** Writes a view of the program's memory. Returns WASI's error number, 0 for success. */
  readonly write: (stream: StreamName, bytes: Uint8Array) => number;
  /** Whether the stream is a terminal, for which programs write line by line. */
  readonly isTerminal: (fd: number) => boolean;
  /** Waits that many milliseconds. */
  readonly sleep: (ms: number) => void;
  /** Milliseconds. Default: the clocks of the platform. */
  readonly now?: () => number;
  readonly wallClock?: () => number;
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

export const Errno = { success: 0, badf: 8, fault: 21, inval: 28, nosys: 52, notsup: 58, spipe: 70 } as const;

/** An address. Modules pass addresses above 2 GiB as negative numbers. */
export type Pointer = number;
export type WasiFunction = (...args: never[]) => number;
