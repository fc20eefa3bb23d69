import {
  checkInterface,
  type Mismatch,
  type ModuleInterface,
  moduleInterface,
} from '@tenon/extension-schema/interface-check';
import {
  compareModules,
  InstrumentError,
  type InstrumentOptions,
  type InstrumentReport,
  inspectModule,
  instrument,
  listFunctions,
  listProposals,
  type ModuleComparison,
  type Note,
  parseConfig,
  parseExtraOptions,
} from '@tenon/instrument';
import { type AttachedDocument, type CheckedDocument, checkDocument } from '../attestations/check-document.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { CheckedModule, ModuleRequirements, ReadSchema } from '../plugins/module-checker.ts';
import { readSchema } from './read-schema.ts';

export type Task =
  | {
      readonly kind: 'check';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly requirements?: ModuleRequirements | undefined;
    }
  | { readonly kind: 'compare'; readonly interfaces: readonly string[]; readonly requirements: ModuleRequirements }
  | { readonly kind: 'diff'; readonly before: Uint8Array | undefined; readonly after: Uint8Array }
  /** `schemaJson` is a JSON string (whose content is YAML or JSON) or a JSON object. */
  | { readonly kind: 'schema'; readonly schemaJson: string }
  | {
      readonly kind: 'document';
      readonly document: AttachedDocument;
      readonly contentAddress: string;
      readonly trustedRoots: readonly unknown[];
    }
  | ({ readonly kind: 'instrument' | 'report'; readonly bytes: Uint8Array<ArrayBuffer> } & Tracing);

/** The configuration and options of the instrumenter: unparsed JSON. */
export interface Tracing {
  readonly config?: string | undefined;
  readonly options?: string | undefined;
}

/** An error in a form that survives the transfer between processes, which loses an error's class. */
interface SerializedError {
  readonly code: InstrumentError['code'] | 'invalid_field';
  readonly message: string;
  readonly errors?: DomainError['errors'];
}

export interface Instrumented extends Pick<InstrumentReport, 'tracedFunctions' | 'totalFunctions' | 'addedImports'> {
  readonly bytes: Uint8Array;
  readonly notes: readonly string[];
}

/** The results of the kinds of tasks, by the name that they have in {@link TaskResult}. */
export interface TaskValues {
  readonly checked: CheckedModule;
  readonly compared: readonly (readonly Mismatch[])[];
  readonly schema: ReadSchema;
  readonly diff: ModuleComparison;
  readonly checkedDocument: CheckedDocument;
  readonly instrumented: Instrumented;
  /** JSON of the protocol's `instrumentationReport`. The worker serialises it: a module may have a million functions. */
  readonly report: Uint8Array;
}

export type TaskResult =
  | { [Name in keyof TaskValues]: { readonly ok: true } & Pick<TaskValues, Name> }[keyof TaskValues]
  | { readonly ok: false; readonly error: SerializedError };

/** Runs one task. The rejection of a module, configuration or schema is a result, not an exception. */
export function runTask(task: Task): TaskResult {
  try {
    if (task.kind === 'check') return checkTask(task.bytes, task.requirements);
    if (task.kind === 'schema') return { ok: true, schema: readSchema(JSON.parse(task.schemaJson)) };
    if (task.kind === 'diff') return { ok: true, diff: compareModules(task.before, task.after, diffLimits) };
    if (task.kind === 'document') return documentTask(task);
    if (task.kind === 'compare') return compareTask(task.interfaces, task.requirements);
    return task.kind === 'report' ? reportTask(task.bytes, task) : instrumentTask(task.bytes, task);
  } catch (error) {
    if (error instanceof InstrumentError) {
      return { ok: false, error: { code: error.code, message: error.message } };
    }
    if (error instanceof DomainError && error.code === 'invalid_field') {
      return { ok: false, error: { code: error.code, message: error.message, errors: error.errors } };
    }
    throw error;
  }
}

/** Bounds a diff to about 100 kB of JSON. */
const diffLimits = { maxItems: 30, maxText: 200 };

/**
 * The maximum length of an interface that is stored. A longer one has thousands of exports and is computed again on each use. Real plugins
 * need a few hundred characters.
 */
const maxInterfaceLength = 65_536;

/** Checks a module that hosts will load: it must be a complete core module that V8 validates. */
function checkTask(bytes: Uint8Array<ArrayBuffer>, requirements: ModuleRequirements | undefined): TaskResult {
  const inspection = inspectModule(bytes); // reads all code, and rejects code that engines validate slowly
  const unsupported = validate(bytes);
  if (unsupported !== undefined) {
    throw new InstrumentError(
      'unsupported_feature',
      `The module can't be validated: the server's WebAssembly engine lacks a feature that it uses (${unsupported})`,
    );
  }
  const found = moduleInterface(inspection, inspection.proposals, bytes.length);
  const json = JSON.stringify(found);
  const interfaceJson = json.length > maxInterfaceLength ? null : json;
  const mismatches = requirements === undefined ? [] : compare(found, requirements);
  return { ok: true, checked: { interfaceJson, mismatches } };
}

function documentTask({
  document,
  contentAddress,
  trustedRoots,
}: Extract<Task, { readonly kind: 'document' }>): TaskResult {
  return { ok: true, checkedDocument: checkDocument(document, contentAddress, trustedRoots) };
}

function compareTask(interfaces: readonly string[], requirements: ModuleRequirements): TaskResult {
  return { ok: true, compared: interfaces.map((json) => compare(JSON.parse(json) as ModuleInterface, requirements)) };
}

function compare(found: ModuleInterface, { schemaJson, limits }: ModuleRequirements): Mismatch[] {
  return checkInterface(found, JSON.parse(schemaJson), limits);
}

function instrumentTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const { output, report, notes } = instrumentChecked(bytes, tracing);
  const { tracedFunctions, totalFunctions, addedImports } = report;
  const messages = notes.map(({ message }) => message);
  return {
    ok: true,
    instrumented: { bytes: output, tracedFunctions, totalFunctions, addedImports, notes: messages },
  };
}

function reportTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const { report, notes } = instrumentChecked(bytes, tracing);
  const untraced = new Set(
    notes.map((note) => (note.code === 'function_left_untraced' ? note.functionIndex : undefined)),
  );
  const functions = listFunctions(bytes, readTracing(tracing)).functions.map((described) =>
    untraced.has(described.index) ? { ...described, isTraced: false } : described,
  );
  return { ok: true, report: new TextEncoder().encode(JSON.stringify({ ...report, notes, functions })) };
}

function readTracing({ config, options }: Tracing): InstrumentOptions {
  return {
    ...(config === undefined ? {} : parseConfig(config)),
    ...(options === undefined ? {} : parseExtraOptions(options)),
  };
}

/** A note of the instrumenter, or the note that V8 did not validate the module. */
type AnyNote = Note | { readonly code: 'not_validated'; readonly message: string };

/**
 * Instruments a module, then validates the input with V8. V8 comes last because the instrumenter reads all code in linear time and
 * rejects code that engines validate slowly.
 *
 * The output of a valid input is valid: tests hold that for each kind of module. It is validated here only if options ask for more than
 * the interface's configuration. Validating the output alone would not do: a few invalid inputs have a valid output, for example one
 * that uses a type or a global that the instrumenter adds.
 */
function instrumentChecked(
  bytes: Uint8Array<ArrayBuffer>,
  tracing: Tracing,
): { readonly output: Uint8Array; readonly report: InstrumentReport; readonly notes: readonly AnyNote[] } {
  const { bytes: output, report } = instrument(bytes, readTracing(tracing));
  // The instrumenter doesn't read the code of a module without traced functions.
  const readError = report.addedImports.length === 0 ? findReadError(bytes) : undefined;
  const skipReason = readError ?? validate(bytes);
  if (skipReason === undefined) {
    if (tracing.options !== undefined) assertValidOutput(output);
    return { output, report, notes: report.notes };
  }
  const reason = readError === undefined ? `the engine reports "${skipReason}"` : skipReason;
  const message = `The module and its instrumented form were not validated: ${reason}.`;
  return { output, report, notes: [...report.notes, { code: 'not_validated', message }] };
}

/**
 * Reads all code of a module.
 *
 * @returns the error message if the code can't be read completely. V8 must not validate such a module, since it may take long.
 * @throws InstrumentError `module_too_complex`
 */
function findReadError(bytes: Uint8Array): string | undefined {
  try {
    listProposals(bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof InstrumentError) || error.code === 'module_too_complex') throw error;
    return error.message;
  }
}

/** Matches V8's message for a proposal that this version doesn't support, or only behind a flag. */
const missingFeaturePattern =
  /enable with --experimental-wasm|invalid (?:numeric|simd|atomic|gc|string) opcode|requires .*--experimental/i;

/**
 * Validates a module with V8.
 *
 * @returns V8's message if V8 lacks a feature that the module uses; `undefined` if the module is valid
 * @throws InstrumentError `invalid_module` with V8's message and, where known, the byte offset
 */
function validate(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  if (WebAssembly.validate(bytes)) return undefined;
  const { reason, offset } = compileError(bytes);
  // V8 quotes names from the module, which are untrusted. Only the text before the first quote is V8's.
  const [unquoted = ''] = reason.split(/["']/, 1);
  if (missingFeaturePattern.test(unquoted)) return reason;
  throw new InstrumentError('invalid_module', `The module is not valid: ${reason}`, { offset });
}

function assertValidOutput(bytes: Uint8Array): void {
  if (WebAssembly.validate(bytes as Uint8Array<ArrayBuffer>)) return;
  const { reason, offset } = compileError(bytes as Uint8Array<ArrayBuffer>);
  throw new Error(`Instrumenting a valid module produced an invalid one: ${reason} at ${offset}`);
}

/** Compiles an invalid module to get V8's error. Fast, since V8 stops at the first error. */
function compileError(bytes: Uint8Array<ArrayBuffer>): { reason: string; offset: number | undefined } {
  try {
    new WebAssembly.Module(bytes);
    return { reason: 'the engine reports no reason', offset: undefined };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const match = /^WebAssembly\.Module\(\): (?:Compiling function #\d+(?::".*")? failed: )?(.*?)(?: @\+(\d+))?$/s.exec(
      message,
    );
    const offset = match?.[2];
    return { reason: match?.[1] ?? message, offset: offset === undefined ? undefined : Number(offset) };
  }
}
