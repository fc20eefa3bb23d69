import type { InstrumentOptions } from '@tenon/instrument';
import type { DropCounts } from '@tenon/trace';
import type { FlameGraphData } from '@tenon/trace/flame-graph';
import type { Argument } from './arguments.ts';
import type { MissingRule } from './stand-ins.ts';

/** What a run needs: the module, what of it is traced, and what it is called with. */
export interface RunRequest {
  readonly bytes: ArrayBuffer;
  readonly isInstrumented: boolean;
  readonly options: InstrumentOptions;
  readonly exportName: string;
  readonly args: readonly Argument[];
  /** For a program of WASI, without its own name. */
  readonly programArgs: readonly string[];
  readonly env: readonly (readonly [name: string, value: string])[];
  /** For WASI on its standard input, for Extism its input. */
  readonly input: string;
  readonly missing: MissingRule;
  readonly minDurationMicroseconds: number;
  readonly fileName: string;
  /** The module of the demangler. */
  readonly demangler: ArrayBuffer | undefined;
  /** Not zero once the run has to stop; only an isolated page has memory that it shares with its workers. */
  readonly stopFlag: SharedArrayBuffer | undefined;
}

/** How a run ended. */
export type Outcome =
  /** An Extism plugin answers by its output: then there are no words for results. */
  | { readonly kind: 'returned'; readonly results: string }
  | { readonly kind: 'exited'; readonly code: number }
  /** A trap, an exception, or an import that is missing. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped'; readonly message: string };

/** What the calls of one function came to. */
export interface FunctionRow {
  /** As people write it. */
  readonly name: string;
  /** As it stands in the module: a choice speaks of this. */
  readonly rawName: string;
  readonly calls: number;
  readonly failures: number;
  /** Nanoseconds. */
  readonly total: number;
  readonly self: number;
  readonly max: number;
  readonly pages: number;
}

export interface RunResult {
  readonly outcome: Outcome;
  /** What an Extism plugin has put out; `undefined` for other modules. */
  readonly output: Uint8Array<ArrayBuffer> | undefined;
  readonly flame: FlameGraphData;
  readonly spans: number;
  /** Those that took the most time themselves come first. */
  readonly functions: readonly FunctionRow[];
  /** How many functions were called beyond those. */
  readonly moreFunctions: number;
  readonly dropped: DropCounts;
  /** Milliseconds of the call itself. */
  readonly durationMs: number;
  readonly clockStepMicroseconds: number;
}

export type StreamName = 'stdout' | 'stderr';

export type RunMessage =
  | { readonly kind: 'phase'; readonly phase: 'instrumenting' | 'compiling' | 'running' | 'gathering' }
  | { readonly kind: 'output'; readonly stream: StreamName; readonly bytes: Uint8Array<ArrayBuffer> }
  /** It has written more than is kept. */
  | { readonly kind: 'cut'; readonly stream: StreamName }
  | { readonly kind: 'done'; readonly result: RunResult }
  /** It could not be run at all. */
  | { readonly kind: 'fault'; readonly message: string };
