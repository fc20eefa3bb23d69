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
  /** Runs work that is told, by the signal, when the user wants it ended: it then cleans up and rejects with the signal's reason. */
  readonly interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}
