import type { InstrumentReport } from '@tenon/instrument';
import type { FunctionOrder } from './find-functions.ts';
import type { OpenedModule } from './open-module.ts';
import type { Selection } from './selection.ts';

/*
 * Questions of the page to the inspect worker, and its answers. Each answer has the id of its question, because typing in the
 * search box sends several before the first answer.
 */

export type InspectQuestion =
  /** Without a demangler, names stay as in the module. */
  | { readonly kind: 'open'; readonly bytes: ArrayBuffer; readonly demangler: ArrayBuffer | undefined }
  | { readonly kind: 'find'; readonly text: string; readonly order: FunctionOrder }
  /** The number of functions that a selection traces. */
  | { readonly kind: 'count'; readonly selection: Selection }
  | { readonly kind: 'instrument'; readonly selection: Selection };

export interface SelectionCount {
  readonly tracedFunctions: number;
}

export interface Instrumented {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly report: InstrumentReport;
}

export interface InspectAnswers {
  readonly open: OpenedModule;
  readonly find: Uint32Array<ArrayBuffer>;
  readonly count: SelectionCount;
  readonly instrument: Instrumented;
}

export type Asked<Question> = { readonly id: number; readonly question: Question };

/** `fault` is a message for people. */
export type Answered = { readonly id: number } & ({ readonly answer: unknown } | { readonly fault: string });
