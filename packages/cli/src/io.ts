import type { Readable, Writable } from 'node:stream';
import type { Environment } from './environment.ts';

/** Where a command reads from and writes to. A terminal has `isTTY` set. */
export type Input = Readable & { readonly isTTY?: boolean | undefined };
export type Output = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** Everything of the outside world that commands use, handed in so that they can be run in any process. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: Environment;
  readonly fetch: typeof fetch;
  /** Milliseconds that only ever grow. */
  readonly nowMs: () => number;
  /** The time of day, in milliseconds since 1970. */
  readonly clockMs: () => number;
  /** Waits, and rejects with the signal's reason when that comes first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly platform: NodeJS.Platform;
  /** Where the user stands. */
  readonly workingFolder: string;
  /** What this machine calls itself. */
  readonly hostName: string;
  /** Shows a page in the user's browser. Rejects when that doesn't work. */
  readonly openBrowser: (url: string) => Promise<void>;
  /**
   * Has the system's shell run a line in a folder. What it writes goes to stderr, and the tokens of this environment are kept
   * from it.
   *
   * @returns what it ends with; `null` when a signal ended it
   */
  readonly runShell: (line: string, folder: string, signal: AbortSignal) => Promise<number | null>;
  /** Runs work that is told, by the signal, when the user wants it ended: it then cleans up and rejects with the signal's reason. */
  readonly interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}
