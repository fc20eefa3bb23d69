import type { InstrumentOptions } from '@tenon/instrument';
import type { Ending, MissingRule, Program, StreamName } from '@tenon/run-kit';
import type { DropCounts, FunctionStatistics } from '@tenon/trace';
import type { FlameGraphData } from '@tenon/trace/flame-graph';

/** A run: the module, what to trace, what to call, and with what. */
export interface RunRequest {
  readonly bytes: ArrayBuffer;
  readonly isInstrumented: boolean;
  readonly options: InstrumentOptions;
  readonly program: Program;
  /** Types of the export's results. */
  readonly resultTypes: readonly string[];
  /** For a WASI program, without its name. */
  readonly programArgs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input of a WASI program, or the input of an Extism plugin. */
  readonly input: string;
  readonly pluginConfig: ReadonlyMap<string, string>;
  readonly missing: MissingRule;
  readonly minDurationMicroseconds: number;
  readonly fileName: string;
  /** The demangler's module. */
  readonly demangler: ArrayBuffer | undefined;
  /** Not zero once the run should stop. Only isolated pages share memory with their workers. */
  readonly stopFlag: SharedArrayBuffer | undefined;
}

export interface RunResult {
  readonly ending: Ending;
  /** The results of a function with their types; empty for others. */
  readonly values: string;
  /** The output of an Extism plugin. */
  readonly output: Uint8Array<ArrayBuffer> | undefined;
  readonly flame: FlameGraphData;
  readonly spans: number;
  /** Those with the most self time first. */
  readonly functions: readonly FunctionStatistics[];
  /** Number of called functions beyond those. */
  readonly moreFunctions: number;
  readonly dropped: DropCounts;
  readonly durationMs: number;
  readonly clockStepMicroseconds: number;
}

export type RunMessage =
  | { readonly kind: 'phase'; readonly phase: 'instrumenting' | 'compiling' | 'running' | 'gathering' }
  | { readonly kind: 'output'; readonly stream: StreamName; readonly text: string }
  /** Further output of the stream is dropped. */
  | { readonly kind: 'cut'; readonly stream: StreamName }
  | { readonly kind: 'done'; readonly result: RunResult }
  /** The module can't be run. */
  | { readonly kind: 'fault'; readonly message: string };
