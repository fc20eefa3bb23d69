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
import { checkInterface, type Mismatch, type ModuleInterface, moduleInterface } from '@tenon/protocol/interface-check';
import type { CheckedModule, ModuleDemands } from '../domain/ports.ts';

/** What a worker is asked. The bytes are moved to it, not copied. */
export type Task =
  | { readonly kind: 'check'; readonly bytes: Uint8Array<ArrayBuffer>; readonly demands?: ModuleDemands | undefined }
  | { readonly kind: 'compare'; readonly interfaces: readonly string[]; readonly demands: ModuleDemands }
  | ({ readonly kind: 'instrument' | 'report'; readonly bytes: Uint8Array<ArrayBuffer> } & Tracing);

/** What is to be traced and how: JSON, as it came. */
export interface Tracing {
  readonly config?: string | undefined;
  readonly options?: string | undefined;
}

/** A refusal as it crosses from one thread to another, where an error's class is lost. */
export interface Refusal {
  readonly code: InstrumentError['code'];
  readonly message: string;
}

export interface Instrumented extends Pick<InstrumentReport, 'tracedFunctions' | 'totalFunctions' | 'addedImports'> {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly notes: readonly string[];
}

export type TaskResult =
  | { readonly ok: true; readonly checked: CheckedModule }
  | { readonly ok: true; readonly compared: readonly (readonly Mismatch[])[] }
  | { readonly ok: true; readonly instrumented: Instrumented }
  /** JSON, as the protocol's `instrumentationReport` describes it. A module may have a million functions, which are not for the main thread to write. */
  | { readonly ok: true; readonly report: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly refusal: Refusal };

/** Does one task. A module or configuration that is refused is a result, not an error. */
export function runTask(task: Task): TaskResult {
  try {
    if (task.kind === 'check') return checkTask(task.bytes, task.demands);
    if (task.kind === 'compare') return compareTask(task.interfaces, task.demands);
    return task.kind === 'report' ? reportTask(task.bytes, task) : instrumentTask(task.bytes, task);
  } catch (error) {
    if (error instanceof InstrumentError) {
      return { ok: false, refusal: { code: error.code, message: error.message } };
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
function checkTask(bytes: Uint8Array<ArrayBuffer>, demands: ModuleDemands | undefined): TaskResult {
  const description = describeModule(bytes);
  const skipped = validate(bytes);
  if (skipped !== undefined) {
    throw new InstrumentError(
      'unsupported_feature',
      `The module uses a feature that the engine here has not, so it can't be known to be valid: ${skipped}`,
    );
  }
  const found = moduleInterface(description, listProposals(bytes), bytes.length);
  const json = JSON.stringify(found);
  const interfaceJson = json.length > maxInterfaceLength ? null : json;
  const mismatches = demands === undefined ? [] : compare(found, demands);
  return { ok: true, checked: { interfaceJson, mismatches } };
}

function compareTask(interfaces: readonly string[], demands: ModuleDemands): TaskResult {
  return { ok: true, compared: interfaces.map((json) => compare(JSON.parse(json) as ModuleInterface, demands)) };
}

function compare(found: ModuleInterface, { schemaJson, limits }: ModuleDemands): Mismatch[] {
  return checkInterface(found, JSON.parse(schemaJson), limits);
}

function instrumentTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const { output, report, notes } = instrumentChecked(bytes, readTracing(tracing));
  const { tracedFunctions, totalFunctions, addedImports } = report;
  const messages = notes.map(({ message }) => message);
  return {
    ok: true,
    instrumented: { bytes: ownBuffer(output), tracedFunctions, totalFunctions, addedImports, notes: messages },
  };
}

function reportTask(bytes: Uint8Array<ArrayBuffer>, tracing: Tracing): TaskResult {
  const options = readTracing(tracing);
  const { report, notes } = instrumentChecked(bytes, options);
  const leftUntraced = new Set(notes.map((note) => ('functionIndex' in note ? note.functionIndex : undefined)));
  const functions = listFunctions(bytes, options).functions.map((described) =>
    leftUntraced.has(described.index) ? { ...described, isTraced: false } : described,
  );
  return { ok: true, report: ownBuffer(new TextEncoder().encode(JSON.stringify({ ...report, notes, functions }))) };
}

function readTracing({ config, options }: Tracing): InstrumentOptions {
  return {
    ...(config === undefined ? {} : parseConfig(config)),
    ...(options === undefined ? {} : parseExtraOptions(options)),
  };
}

/** A note of the instrumenter, or that the engine could not look at the module. */
type AnyNote = Note | { readonly code: 'not_validated'; readonly message: string };

/** Instruments a module, and has the engine validate it before and after. */
function instrumentChecked(
  bytes: Uint8Array<ArrayBuffer>,
  options: InstrumentOptions,
): { readonly output: Uint8Array; readonly report: InstrumentReport; readonly notes: readonly AnyNote[] } {
  describeModule(bytes);
  const skipped = validate(bytes);
  const { bytes: output, report } = instrument(bytes, options);
  if (skipped === undefined) {
    demandValidOutput(output);
    return { output, report, notes: report.notes };
  }
  const message = `The module was not validated, nor what was made of it: this engine says "${skipped}".`;
  return { output, report, notes: [...report.notes, { code: 'not_validated', message }] };
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

/** The output in a buffer that holds nothing else, so that it can be moved to another thread. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole && bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
