import {
  checkInterface,
  type Mismatch,
  type ModuleInterface,
  moduleInterface,
} from '@tenon/extension-schema/interface-check';
import {
  describeModule,
  InstrumentError,
  type InstrumentOptions,
  type InstrumentReport,
  instrument,
  listFunctions,
  listProposals,
  type Note,
  parseConfig,
  parseExtraOptions,
} from '@tenon/instrument';
import { DomainError } from '../domain/errors.ts';
import type { CheckedModule, ModuleRequirements } from '../domain/ports.ts';
import { readSchema } from '../domain/read-schema.ts';

/** What a worker is asked. */
export type Task =
  | {
      readonly kind: 'check';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly demands?: ModuleRequirements | undefined;
    }
  | { readonly kind: 'compare'; readonly interfaces: readonly string[]; readonly demands: ModuleRequirements }
  /** The schema as JSON: a string of YAML or JSON, or an object. */
  | { readonly kind: 'schema'; readonly schemaJson: string }
  | ({ readonly kind: 'instrument' | 'report'; readonly bytes: Uint8Array<ArrayBuffer> } & Tracing);

/** What is to be traced and how: JSON, as it came. */
export interface Tracing {
  readonly config?: string | undefined;
  readonly options?: string | undefined;
}

/** A refusal as it crosses from one process to another, where an error's class is lost. */
export interface Refusal {
  readonly code: InstrumentError['code'] | 'invalid_field';
  readonly message: string;
  readonly errors?: DomainError['errors'];
}

export interface Instrumented extends Pick<InstrumentReport, 'tracedFunctions' | 'totalFunctions' | 'addedImports'> {
  readonly bytes: Uint8Array;
  readonly notes: readonly string[];
}

export type TaskResult =
  | { readonly ok: true; readonly checked: CheckedModule }
  | { readonly ok: true; readonly compared: readonly (readonly Mismatch[])[] }
  | { readonly ok: true; readonly schemaJson: string }
  | { readonly ok: true; readonly instrumented: Instrumented }
  /** JSON, as the protocol's `instrumentationReport` describes it. A module may have a million functions, which are not for the main thread to write. */
  | { readonly ok: true; readonly report: Uint8Array }
  | { readonly ok: false; readonly refusal: Refusal };

/** Does one task. A module, configuration or schema that is refused is a result, not an error. */
export function runTask(task: Task): TaskResult {
  try {
    if (task.kind === 'check') return checkTask(task.bytes, task.demands);
    if (task.kind === 'schema') return { ok: true, schemaJson: readSchema(JSON.parse(task.schemaJson)) };
    if (task.kind === 'compare') return compareTask(task.interfaces, task.demands);
    return task.kind === 'report' ? reportTask(task.bytes, task) : instrumentTask(task.bytes, task);
  } catch (error) {
    if (error instanceof InstrumentError) {
      return { ok: false, refusal: { code: error.code, message: error.message } };
    }
    if (error instanceof DomainError && error.code === 'invalid_field') {
      return { ok: false, refusal: { code: error.code, message: error.message, errors: error.errors } };
    }
    throw error;
  }
}

/**
 * An interface that takes more characters is not kept: it has thousands of exports, and is worked out again when it is asked for.
 * Real plugins' take some hundreds.
 */
export const maxInterfaceLength = 65_536;

/** A host will load these bytes: they must be a core module, whole, and known to be valid. */
function checkTask(bytes: Uint8Array<ArrayBuffer>, demands: ModuleRequirements | undefined): TaskResult {
  const description = describeModule(bytes);
  const proposals = listProposals(bytes); // reads all code, and refuses what engines take long for
  const skipped = validate(bytes);
  if (skipped !== undefined) {
    throw new InstrumentError(
      'unsupported_feature',
      `The module uses a feature that the engine here has not, so it can't be known to be valid: ${skipped}`,
    );
  }
  const found = moduleInterface(description, proposals, bytes.length);
  const json = JSON.stringify(found);
  const interfaceJson = json.length > maxInterfaceLength ? null : json;
  const mismatches = demands === undefined ? [] : compare(found, demands);
  return { ok: true, checked: { interfaceJson, mismatches } };
}

function compareTask(interfaces: readonly string[], demands: ModuleRequirements): TaskResult {
  return { ok: true, compared: interfaces.map((json) => compare(JSON.parse(json) as ModuleInterface, demands)) };
}

function compare(found: ModuleInterface, { schemaJson, limits }: ModuleRequirements): Mismatch[] {
  return checkInterface(found, JSON.parse(schemaJson), limits);
}

function instrumentTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const { output, report, notes } = instrumentChecked(bytes, readTracing(tracing));
  const { tracedFunctions, totalFunctions, addedImports } = report;
  const messages = notes.map(({ message }) => message);
  return {
    ok: true,
    instrumented: { bytes: output, tracedFunctions, totalFunctions, addedImports, notes: messages },
  };
}

function reportTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const options = readTracing(tracing);
  const { report, notes } = instrumentChecked(bytes, options);
  const leftUntraced = new Set(notes.map((note) => ('functionIndex' in note ? note.functionIndex : undefined)));
  const functions = listFunctions(bytes, options).functions.map((described) =>
    leftUntraced.has(described.index) ? { ...described, isTraced: false } : described,
  );
  return { ok: true, report: new TextEncoder().encode(JSON.stringify({ ...report, notes, functions })) };
}

function readTracing({ config, options }: Tracing): InstrumentOptions {
  return {
    ...(config === undefined ? {} : parseConfig(config)),
    ...(options === undefined ? {} : parseExtraOptions(options)),
  };
}

/** A note of the instrumenter, or that the engine could not look at the module. */
type AnyNote = Note | { readonly code: 'not_validated'; readonly message: string };

/**
 * Instruments a module, and has the engine validate it, and what was made of it. The engine comes last: the instrumenter reads all code in
 * time that is in proportion to it, and refuses what engines take long for.
 */
function instrumentChecked(
  bytes: Uint8Array<ArrayBuffer>,
  options: InstrumentOptions,
): { readonly output: Uint8Array; readonly report: InstrumentReport; readonly notes: readonly AnyNote[] } {
  const { bytes: output, report } = instrument(bytes, options);
  // Where there is nothing to trace, the code was not read.
  const unread = report.addedImports.length === 0 ? whyUnreadable(bytes) : undefined;
  const skipped = unread ?? validate(bytes);
  if (skipped === undefined) {
    demandValidOutput(output);
    return { output, report, notes: report.notes };
  }
  const reason = unread === undefined ? `this engine says "${skipped}"` : skipped;
  const message = `The module was not validated, nor what was made of it: ${reason}.`;
  return { output, report, notes: [...report.notes, { code: 'not_validated', message }] };
}

/**
 * Reads all code of a module.
 *
 * @returns why it can't be read to its end: then nothing is known of how long an engine would take
 * @throws InstrumentError `module_too_complex`
 */
function whyUnreadable(bytes: Uint8Array): string | undefined {
  try {
    listProposals(bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof InstrumentError) || error.code === 'module_too_complex') throw error;
    return error.message;
  }
}

/** What V8 says of a module that uses a proposal which this version of it has not, or not without a flag. */
const missingFeature =
  /enable with --experimental-wasm|invalid (?:numeric|simd|atomic|gc|string) opcode|requires .*--experimental/i;

/**
 * Has the engine validate a module.
 *
 * @returns the engine's reason when it can't tell, since it lacks a feature that the module uses
 * @throws InstrumentError `invalid_module` with the engine's reason and, where it tells, the byte offset
 */
function validate(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  if (WebAssembly.validate(bytes)) return undefined;
  const { reason, offset } = whyInvalid(bytes);
  // What V8 puts between quotes are names out of the module: they may say anything.
  const [enginesOwnWords = ''] = reason.split(/["']/, 1);
  if (missingFeature.test(enginesOwnWords)) return reason;
  throw new InstrumentError('invalid_module', `The module is not valid: ${reason}`, { offset });
}

function demandValidOutput(bytes: Uint8Array): void {
  if (WebAssembly.validate(bytes as Uint8Array<ArrayBuffer>)) return;
  const { reason, offset } = whyInvalid(bytes as Uint8Array<ArrayBuffer>);
  throw new Error(`Instrumenting a valid module made an invalid one: ${reason} at ${offset}`);
}

/** Compiling stops at the first fault, so this is done only for what is known to have one. */
function whyInvalid(bytes: Uint8Array<ArrayBuffer>): { reason: string; offset: number | undefined } {
  try {
    new WebAssembly.Module(bytes);
    return { reason: 'the engine gives no reason', offset: undefined };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const match = /^WebAssembly\.Module\(\): (?:Compiling function #\d+(?::".*")? failed: )?(.*?)(?: @\+(\d+))?$/s.exec(
      message,
    );
    const offset = match?.[2];
    return { reason: match?.[1] ?? message, offset: offset === undefined ? undefined : Number(offset) };
  }
}
