import {
  isTracingModule,
  kernelFunctions,
  kernelModule,
  olderKernelFunctions,
  olderModule,
  userModule,
  wasiFunctions,
  wasiModule,
} from './host-imports.ts';
import type { ModuleImport, ModuleInterface } from './module-interface.ts';
import { nearestWord } from './nearest-word.ts';
import { pointerTo } from './path.ts';
import { optionalKey } from './types.ts';

export { kernelModule, olderModule, userModule, wasiModule } from './host-imports.ts';
export {
  type DescribedModule,
  type ExternKind,
  type FunctionType,
  type ModuleExport,
  type ModuleImport,
  type ModuleInterface,
  moduleInterface,
} from './module-interface.ts';

/** The limits of an extension point on modules. `null` or `undefined` means no limit. */
export interface InterfaceLimits {
  readonly maxModuleBytes?: number | null | undefined;
  readonly maxInitialMemoryPages?: number | null | undefined;
  /** The proposals that a module may use. */
  readonly proposals?: readonly string[] | null | undefined;
  /** Default `true`. */
  readonly allowWasi?: boolean | undefined;
}

/** One way in which a module does not fit an extension point. */
export interface Mismatch {
  readonly code:
    | 'missing_export'
    | 'wrong_kind'
    | 'foreign_import'
    | 'wasi_not_allowed'
    | 'module_too_large'
    | 'memory_too_large'
    | 'proposal_not_allowed'
    | 'too_many';
  /** A JSON Pointer (RFC 6901): `/exports/<name>`, `/imports/<module>/<name>`, or `/limits/<limit>`. */
  readonly pointer: string;
  /** A description for people. */
  readonly detail: string;
}

/** The maximum number of reported mismatches. One more entry counts the rest. */
export const maxMismatches = 100;

/** Quotes a name of a module, which is untrusted. */
function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/**
 * Checks a module against an extension point:
 *
 * - The module must export every export of the schema as a function, except for those that are optional.
 * - Every import must be in the schema, or belong to Extism's runtime, WASI preview 1 (unless the limits forbid it), or tracing.
 * - Size, memory and proposals must be within the limits.
 *
 * A schema without exports and imports allows any.
 *
 * @param schema a schema as the API returns it; invalid parts are skipped
 * @returns an empty array for a module that fits; otherwise at most {@link maxMismatches}, and one entry that counts the rest
 */
export function checkInterface(module: ModuleInterface, schema: unknown, limits: InterfaceLimits): Mismatch[] {
  const exports = functionNames(schema, 'exports');
  const imports = functionNames(schema, 'imports');
  const found: Mismatch[] = [
    ...limitMismatches(module, limits),
    ...exportMismatches(module, exports, optionalExports(schema)),
    ...importMismatches(module, exports.length + imports.length > 0 ? imports : undefined, limits),
  ];
  if (found.length <= maxMismatches) return found;
  const detail = `There are ${(found.length - maxMismatches).toLocaleString('en')} more.`;
  return [...found.slice(0, maxMismatches), { code: 'too_many', pointer: '', detail }];
}

/** Summarises mismatches in one text: the first three, and the number of the others. */
export function summarizeMismatches(mismatches: readonly Mismatch[]): string {
  const details = mismatches.slice(0, 3).map(({ detail }) => detail);
  const others = mismatches.length - details.length;
  return [...details, ...(others > 0 ? [`And ${others} more.`] : [])].join(' ');
}

/** Returns the names of the exports or imports of a schema. */
export function functionNames(schema: unknown, part: 'exports' | 'imports'): string[] {
  const functions = isObject(schema) && Object.hasOwn(schema, part) ? schema[part] : undefined;
  if (!Array.isArray(functions)) return isObject(functions) ? Object.keys(functions) : [];
  const names = functions.map((item: unknown) => (isObject(item) ? item.name : item));
  return names.filter((name) => typeof name === 'string');
}

/** Returns the names of the exports that a plugin may leave out. */
export function optionalExports(schema: unknown): ReadonlySet<string> {
  const functions = isObject(schema) && Object.hasOwn(schema, 'exports') ? schema.exports : undefined;
  const entries = isObject(functions) && !Array.isArray(functions) ? Object.entries(functions) : [];
  return new Set(entries.flatMap(([name, entry]) => (isObject(entry) && entry[optionalKey] === true ? [name] : [])));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function limitMismatches(module: ModuleInterface, limits: InterfaceLimits): Mismatch[] {
  const { maxModuleBytes, maxInitialMemoryPages, proposals } = limits;
  const found: Mismatch[] = [];
  const number = (value: number): string => value.toLocaleString('en');
  if (typeof maxModuleBytes === 'number' && module.sizeBytes > maxModuleBytes) {
    const detail = `The module has ${number(module.sizeBytes)} bytes; the extension point allows at most ${number(maxModuleBytes)}.`;
    found.push({ code: 'module_too_large', pointer: '/limits/maxModuleBytes', detail });
  }
  if (typeof maxInitialMemoryPages === 'number' && module.initialMemoryPages > maxInitialMemoryPages) {
    const detail =
      `The module's memory has ${number(module.initialMemoryPages)} pages of 64 KiB at the start; ` +
      `the extension point allows at most ${number(maxInitialMemoryPages)}.`;
    found.push({ code: 'memory_too_large', pointer: '/limits/maxInitialMemoryPages', detail });
  }
  for (const proposal of proposals === null || proposals === undefined ? [] : module.proposals) {
    if (proposals?.includes(proposal)) continue;
    const detail = `The module uses the proposal ${shown(proposal)}, which the extension point does not allow.`;
    found.push({ code: 'proposal_not_allowed', pointer: '/limits/proposals', detail });
  }
  return found;
}

function exportMismatches(
  module: ModuleInterface,
  names: readonly string[],
  optional: ReadonlySet<string>,
): Mismatch[] {
  if (names.length === 0) return [];
  const kinds = new Map(module.exports.map(({ name, kind }) => [name, kind]));
  const wanted = new Set(names);
  const others = module.exports.flatMap(({ name, kind }) => (kind === 'function' && !wanted.has(name) ? [name] : []));
  const found: Mismatch[] = [];
  for (const name of wanted) {
    const kind = kinds.get(name);
    if (kind === 'function' || (kind === undefined && optional.has(name))) continue;
    const pointer = pointerTo(['exports', name]);
    if (kind !== undefined) {
      const detail = `The module exports ${shown(name)} as a ${kind}; it must be a function.`;
      found.push({ code: 'wrong_kind', pointer, detail });
      continue;
    }
    // A module with very many missing exports is the wrong module, so hints don't help.
    const near = found.length < maxMismatches ? nearestWord(name, others) : undefined;
    const detail = `The module does not export the function ${shown(name)}${near === undefined ? '' : `; it exports ${shown(near)}`}.`;
    found.push({ code: 'missing_export', pointer, detail });
  }
  return found;
}

/** @param names the schema's imports; `undefined` for a schema without exports and imports, for which only WASI is checked */
function importMismatches(
  module: ModuleInterface,
  names: readonly string[] | undefined,
  limits: InterfaceLimits,
): Mismatch[] {
  const allowsWasi = limits.allowWasi !== false;
  const offered = new Map<string, ReadonlySet<string>>([
    [kernelModule, new Set(kernelFunctions)],
    [olderModule, new Set(olderKernelFunctions)],
    [userModule, new Set(names)],
    ...(allowsWasi ? [[wasiModule, new Set(wasiFunctions)] as const] : []),
  ]);
  const known = new Set<string>();
  const found: Mismatch[] = [];
  for (const entry of module.imports) {
    const pointer = pointerTo(['imports', entry.module, entry.name]);
    if (known.has(pointer) || isTracingModule(entry.module)) continue;
    known.add(pointer);
    if (entry.module === wasiModule && !allowsWasi) {
      const detail = `The module imports ${shown(entry.name)} of WASI, which the extension point does not allow.`;
      found.push({ code: 'wasi_not_allowed', pointer, detail });
    } else if (names !== undefined) {
      const mismatch = importMismatch(entry, offered, found.length < maxMismatches);
      if (mismatch !== undefined) found.push({ ...mismatch, pointer });
    }
  }
  return found;
}

function importMismatch(
  { module, name, kind }: ModuleImport,
  offered: ReadonlyMap<string, ReadonlySet<string>>,
  withHint: boolean,
): Omit<Mismatch, 'pointer'> | undefined {
  const names = offered.get(module);
  const what = `${shown(name)} from ${shown(module)}`;
  if (names?.has(name)) {
    if (kind === 'function') return undefined;
    return { code: 'wrong_kind', detail: `The module imports ${what} as a ${kind}; it is a function.` };
  }
  const hint = withHint ? hintFor(module, name, offered) : '.';
  return {
    code: 'foreign_import',
    detail: `The module imports ${what}, which the extension point does not offer${hint}`,
  };
}

/** Returns the end of the sentence, with the name that was probably meant or the module that has the name. */
function hintFor(module: string, name: string, offered: ReadonlyMap<string, ReadonlySet<string>>): string {
  const elsewhere = [...offered].find(([, names]) => names.has(name))?.[0];
  if (elsewhere !== undefined) return `; ${shown(name)} is in ${shown(elsewhere)}.`;
  const near = nearestWord(name, offered.get(module) ?? []);
  return near === undefined ? '.' : `; did you mean ${shown(near)}?`;
}
