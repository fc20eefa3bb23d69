import type { Readable, Writable } from 'node:stream';
import type { Environment } from './environment.ts';

/** The streams of a command. A terminal has `isTTY` set. */
export type Input = Readable & { readonly isTTY?: boolean | undefined };
export type Output = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** The environment of a command: streams, clocks, and other input and output. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: Environment;
  readonly fetch: typeof fetch;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** The time of day, in milliseconds since 1970. */
  readonly clockMs: () => number;
  /** Waits, and rejects with the signal's reason when that comes first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly platform: NodeJS.Platform;
  /** The current folder. */
  readonly workingFolder: string;
  /** The name of this machine. */
  readonly hostName: string;
  /** Opens a page in the user's browser. Rejects if that fails. */
  readonly openBrowser: (url: string) => Promise<void>;
  /**
   * Has the system's shell run a line in a folder. What it writes goes to stderr, and the tokens of this environment are kept
   * from it.
   *
   * @returns what it ends with; `null` when a signal ended it
   */
  readonly runShell: (line: string, folder: string, signal: AbortSignal) => Promise<number | null>;
  /** Runs work that the user can interrupt: it then cleans up and rejects with the signal's reason. */
  readonly interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}
