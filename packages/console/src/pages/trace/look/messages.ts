import type { InstrumentReport } from '@tenon/instrument';
import type { Choice } from './choice.ts';
import type { FunctionOrder } from './find-functions.ts';
import type { OpenedModule } from './open-module.ts';

/*
 * What the page asks of the worker that looks at modules, and what that answers. Each answer has the id of its question, since a page
 * that types in a search box asks the next before the last is answered.
 */

export type LookQuestion =
  /** Without the demangler's module, names stay as they are. */
  | { readonly kind: 'open'; readonly bytes: ArrayBuffer; readonly demangler: ArrayBuffer | undefined }
  | { readonly kind: 'find'; readonly text: string; readonly order: FunctionOrder }
  /** How many functions a choice traces, and what there is to say of it. */
  | { readonly kind: 'count'; readonly choice: Choice }
  | { readonly kind: 'instrument'; readonly choice: Choice };

export interface ChoiceCount {
  readonly tracedFunctions: number;
}

export interface Instrumented {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly report: InstrumentReport;
}

export interface LookAnswers {
  readonly open: OpenedModule;
  readonly find: Uint32Array<ArrayBuffer>;
  readonly count: ChoiceCount;
  readonly instrument: Instrumented;
}

export type Asked<Question> = { readonly id: number; readonly question: Question };

/** `fault` is in words for people. */
export type Answered = { readonly id: number } & ({ readonly answer: unknown } | { readonly fault: string });
