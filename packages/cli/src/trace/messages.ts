import type { MessagePort } from 'node:worker_threads';
import type { Span, TraceStatistics } from '@tenon/trace';
import type { Program, Stub } from './program.ts';

/** What the thread that runs a module is given. */
export interface RunTask {
  /** The instrumented module. */
  readonly module: Uint8Array;
  readonly program: Program;
  /** Its name for itself, as the first argument of a command. */
  readonly programName: string;
  readonly stubs: readonly Stub[];
  readonly environment: Readonly<Record<string, string>>;
  /** Folders by the paths under which the program sees them. */
  readonly folders: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly pluginConfig: ReadonlyMap<string, string>;
  readonly repeat: number;
  readonly minDurationMicroseconds: number;
  readonly maxSpans: number;
  /** Whether what a command writes goes to stderr, since stdout is for the report. */
  readonly isStdoutTaken: boolean;
  /** Shared with the thread that waits: see {@link signals}. */
  readonly shared: SharedArrayBuffer;
  /** Brings what is read of stdin, when it was asked for. */
  readonly stdin: MessagePort;
  /** A demangler's module. */
  readonly demangler: Uint8Array;
}

/** Places in the shared memory. */
export const signals = {
  /** Not 0 when the program is to end. */
  stop: 0,
  /** Counts what has come from stdin, so that one can wait for more. */
  stdin: 1,
} as const;

/** What one run took. Functions are known by their indices in the instrumented module. */
export interface RunFigures {
  /** Nanoseconds within traced calls: what the host does between them, and the making of spans, is not the program's. */
  readonly timeNano: number;
  readonly functions: readonly FunctionRun[];
}

export interface FunctionRun {
  readonly index: number;
  readonly calls: number;
  readonly totalNano: number;
  readonly selfNano: number;
}

/** How the last run ended. */
export type Ending =
  | { readonly kind: 'returned'; readonly exitCode: number | undefined }
  /** A trap, an exception, or an error that a plugin has told. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** It was stopped from outside. */
  | { readonly kind: 'stopped' }
  /** It could not begin: the engine refuses the module, or its imports. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What a run, or several of them, came to. */
export interface RunResult {
  readonly ending: Ending;
  /** Of the last run, as far as there was room. */
  readonly spans: readonly Span[];
  /** What the outermost calls of the last run took, nanoseconds: those too that have no span here. */
  readonly timeNano: number;
  /** Of all runs. */
  readonly statistics: TraceStatistics | undefined;
  readonly runs: readonly RunFigures[];
  /** Pages that memory had as the last run began. */
  readonly initialPages: number | undefined;
  /** What a plugin or a function answered in the last run. */
  readonly output: Uint8Array | undefined;
}

/** What the thread says. */
export type RunMessage =
  /** All is prepared. */
  | { readonly type: 'begins' }
  /** The program is being stopped, and what was traced is on its way. */
  | { readonly type: 'stops' }
  /** The program waits for stdin. */
  | { readonly type: 'wants-input' }
  | { readonly type: 'ran'; readonly figures: RunFigures }
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'ended'; readonly result: Omit<RunResult, 'runs'> };
