import type { MessagePort } from 'node:worker_threads';
import type { SourceLookupOptions } from '@tenon/instrument/debug-info';
import type { RunResult, RunTask } from '@tenon/run-kit';

/** What the thread that runs a module gets. */
export interface ThreadTask {
  readonly run: RunTask;
  /** The program's arguments, its own name first. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Folders by the paths under which the program sees them. */
  readonly folders: Readonly<Record<string, string>>;
  /** Whether the program's stdout goes to stderr, because stdout is for the report. */
  readonly isStdoutTaken: boolean;
  /** Shared with the main thread: see {@link signals}. */
  readonly shared: SharedArrayBuffer;
  /** Brings pieces of stdin on request. */
  readonly stdin: MessagePort;
  /** A demangler's module. */
  readonly demangler: Uint8Array;
  /** Where the module's debug information is, apart from the module; `undefined` to show no sources. */
  readonly debugInfo?: SourceLookupOptions | undefined;
}

/** Indices in the shared memory. */
export const signals = {
  /** Not 0 once the program should stop. */
  stop: 0,
  /** Number of pieces of stdin that were sent. */
  stdin: 1,
} as const;

/** A message of the thread. */
export type RunMessage =
  /** The program starts. */
  | { readonly type: 'begins' }
  /** The program is being stopped; its result follows. */
  | { readonly type: 'stops' }
  /** The program waits for stdin. */
  | { readonly type: 'wants-input' }
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'ended'; readonly result: RunResult };
