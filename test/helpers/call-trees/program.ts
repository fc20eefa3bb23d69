/**
 * Programs whose every event is known before they run. A program is made at random (`make-program.ts`), run by a model
 * that knows nothing of WebAssembly's encoding (`model.ts`), and encoded (`encode.ts`); what the instrumented module
 * reports must be what the model says.
 *
 * Every function takes one i32, its fuel: with none left it leaves at once by `leaf`, and every call passes one less, so
 * each program ends.
 */
export interface Program {
  /** Which exception handling the module uses; `tags` throws and never catches. */
  readonly generation: 'none' | 'tags' | 'legacy' | 'exnref';
  readonly imports: readonly ImportedFunction[];
  readonly functions: readonly OwnFunction[];
  readonly memories: readonly MemoryPlan[];
  /** The function that the start function calls, and with how much fuel. */
  readonly start: { readonly target: number; readonly fuel: number } | undefined;
  /** Per function of the index space: whether it is traced. */
  readonly traced: readonly boolean[];
  /** How many of a hundred LEB128s are longer than they have to be. */
  readonly paddedPercent: number;
  /** Whether custom sections stand between the others. */
  readonly hasCustomSections: boolean;
  /** Whether each `if` and `br_if` comes with a hint whether it is likely to be taken. */
  readonly hasBranchHints: boolean;
}

export type ResultType = 'i32' | 'i64' | 'f64' | 'funcref' | 'anyref' | 'typed' | 'nonNull';

/** Index in `resultLists`. */
export type ResultList = number;

/** `typed` is `(ref null 0)` and `nonNull` is `(ref 0)`: functions of type 0, which has no result. */
export const resultLists: readonly (readonly ResultType[])[] = [
  [],
  ['i32'],
  ['i32', 'i64'],
  ['f64', 'anyref'],
  ['i64', 'funcref'],
  ['anyref'],
  ['typed'],
  ['i32', 'nonNull'],
];

/** An import's results come from JavaScript, which has no typed reference at hand. */
export const importableResultLists = 6;

/** One number for each result; what it means depends on the type, and zero is null for `funcref` and `typed`. */
export type Values = readonly number[];

export interface ImportedFunction {
  readonly results: ResultList;
  readonly values: Values;
  readonly actions: readonly HostAction[];
}

/** What the host does in an imported function. Without an instance at hand (in the start function) it can only throw. */
export type HostAction =
  | { readonly act: 'throw'; readonly tag: number | 'host' }
  | { readonly act: 'grow'; readonly memory: number; readonly pages: number }
  | { readonly act: 'enter'; readonly target: number; readonly catches: boolean };

export interface MemoryPlan {
  readonly minimum: number;
  readonly maximum: number | undefined;
  readonly is64: boolean;
  readonly isShared: boolean;
  readonly visibility: 'hidden' | 'exported' | 'imported';
  /** Pages that an imported memory has when it is handed in. */
  readonly initial: number;
}

export interface OwnFunction {
  readonly results: ResultList;
  /** What happens without fuel. */
  readonly leaf: Exit;
  readonly body: readonly Statement[];
  /** What the function returns if its body comes to an end. */
  readonly values: Values;
}

/** How a function is reached: `global` is `call_ref` of a reference in a global. */
export type CallPath = 'direct' | 'table' | 'ref' | 'global';
export const callPaths: readonly CallPath[] = ['direct', 'table', 'ref', 'global'];

export type Statement =
  | { readonly do: 'call'; readonly path: CallPath; readonly target: number }
  | { readonly do: 'block'; readonly isLoop: boolean; readonly body: readonly Statement[] }
  /** Leaves the scope (block or try) that many scopes out; 0 is the innermost. */
  | { readonly do: 'break'; readonly by: 'br' | 'br_if' | 'br_table'; readonly scopesOut: number }
  | {
      readonly do: 'when';
      readonly bit: number;
      readonly yes: readonly Statement[];
      readonly no: readonly Statement[];
    }
  | { readonly do: 'grow'; readonly memory: number; readonly pages: number }
  /** A branch to the function's label that is not taken. */
  | { readonly do: 'stay'; readonly by: 'br_if' | 'br_on_null' | 'br_on_cast'; readonly values: Values }
  | { readonly do: 'try'; readonly body: readonly Statement[]; readonly handlers: readonly Handler[] }
  /** `try … delegate`, that many scopes out; one more than there are scopes is the function's label. */
  | { readonly do: 'delegate'; readonly body: readonly Statement[]; readonly scopesOut: number }
  /** A `try_table` whose clause catches into the function's label, which takes the payload. */
  | { readonly do: 'catchToFunction'; readonly body: readonly Statement[] }
  /** Throws again what the handler caught that is that many scopes out. */
  | { readonly do: 'rethrow'; readonly scopesOut: number }
  | { readonly do: 'exit'; readonly exit: Exit };

export interface Handler {
  readonly tag: number | 'all';
  /** Keeps the exception, so that it can be thrown again. Means nothing to the older generation. */
  readonly keeps: boolean;
  readonly body: readonly Statement[];
}

export type ValueExit =
  | 'return'
  | 'br'
  | 'br_if'
  | 'br_table'
  | 'br_on_null'
  | 'br_on_non_null'
  | 'br_on_cast'
  | 'br_on_cast_fail';

export type Trap = 'unreachable' | 'division' | 'nullCall' | 'nullTailCall';

export type Exit =
  /** `hasRest`: more lies on the operand stack than the results. */
  | { readonly by: ValueExit; readonly values: Values; readonly hasRest: boolean }
  | { readonly by: 'tail'; readonly path: CallPath; readonly target: number }
  | { readonly by: 'trap'; readonly trap: Trap }
  | { readonly by: 'throw'; readonly tag: number };

/** Tag 0 carries an i32, tag 1 nothing. */
export const tagCount = 2;
export const thrownPayload = 77;

export function resultsOf(program: Program, index: number): readonly ResultType[] {
  const { imports, functions } = program;
  const found = index < imports.length ? imports[index] : functions[index - imports.length];
  return resultLists[(found as { results: ResultList }).results] as readonly ResultType[];
}

/** A result as text, so that what the model says and what the engine returns can be compared. */
export function describeValue(type: ResultType, value: unknown): string {
  const isReference = type === 'funcref' || type === 'typed' || type === 'nonNull';
  return `${type} ${isReference ? (value ? 'function' : 'null') : value}`;
}
