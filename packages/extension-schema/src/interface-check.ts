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

export { kernelModule, userModule, wasiModule } from './host-imports.ts';
export {
  type DescribedModule,
  type ExternKind,
  type FunctionType,
  type ModuleExport,
  type ModuleImport,
  type ModuleInterface,
  moduleInterface,
} from './module-interface.ts';

/** What an extension point demands of a module beside its schema. `null`, or nothing, sets no limit. */
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
  /** What it is about: `/exports/<name>`, `/imports/<module>/<name>`, `/limits/<limit>`; a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** For people. */
  readonly detail: string;
}

/** How many mismatches are told; what more there is, is counted. */
export const maxMismatches = 100;

/** A name as it can be shown: a module may say anything. */
function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/**
 * Compares a module with what an extension point demands: every export that the schema names must be there as a function; every
 * import must be one of the schema's, of Extism's kernel, of WASI preview 1 (unless the limits forbid it) or of tracing; size,
 * memory and proposals must be within the limits. A schema without exports and imports says nothing of either.
 *
 * @param schema as the API answers it. One that was stored before schemas were checked is read as far as it can be
 * @returns nothing for a module that fits, else at most {@link maxMismatches} and one that counts the rest
 */
export function checkInterface(module: ModuleInterface, schema: unknown, limits: InterfaceLimits): Mismatch[] {
  const exports = functionNames(schema, 'exports');
  const imports = functionNames(schema, 'imports');
  const found: Mismatch[] = [
    ...limitMismatches(module, limits),
    ...exportMismatches(module, exports),
    ...importMismatches(module, exports.length + imports.length > 0 ? imports : undefined, limits),
  ];
  if (found.length <= maxMismatches) return found;
  const detail = `There are ${(found.length - maxMismatches).toLocaleString('en')} more.`;
  return [...found.slice(0, maxMismatches), { code: 'too_many', pointer: '', detail }];
}

/** All in a sentence or a few, for where a list has no place. */
export function summarizeMismatches(mismatches: readonly Mismatch[]): string {
  const told = mismatches.slice(0, 3).map(({ detail }) => detail);
  const others = mismatches.length - told.length;
  return [...told, ...(others > 0 ? [`And ${others} more.`] : [])].join(' ');
}

/** The names below `exports` or `imports` of a schema. */
export function functionNames(schema: unknown, part: 'exports' | 'imports'): string[] {
  const functions = isObject(schema) && Object.hasOwn(schema, part) ? schema[part] : undefined;
  if (!Array.isArray(functions)) return isObject(functions) ? Object.keys(functions) : [];
  const names = functions.map((item: unknown) => (isObject(item) ? item.name : item));
  return names.filter((name) => typeof name === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function limitMismatches(module: ModuleInterface, limits: InterfaceLimits): Mismatch[] {
  const { maxModuleBytes, maxInitialMemoryPages, proposals } = limits;
  const found: Mismatch[] = [];
  const number = (value: number): string => value.toLocaleString('en');
  if (typeof maxModuleBytes === 'number' && module.sizeBytes > maxModuleBytes) {
    const detail = `The module has ${number(module.sizeBytes)} bytes; the extension point takes ${number(maxModuleBytes)} at the most.`;
    found.push({ code: 'module_too_large', pointer: '/limits/maxModuleBytes', detail });
  }
  if (typeof maxInitialMemoryPages === 'number' && module.initialMemoryPages > maxInitialMemoryPages) {
    const detail =
      `The module's memory has ${number(module.initialMemoryPages)} pages of 64 KiB at the start; ` +
      `the extension point takes ${number(maxInitialMemoryPages)} at the most.`;
    found.push({ code: 'memory_too_large', pointer: '/limits/maxInitialMemoryPages', detail });
  }
  for (const proposal of proposals === null || proposals === undefined ? [] : module.proposals) {
    if (proposals?.includes(proposal)) continue;
    const detail = `The module uses the proposal ${shown(proposal)}, which the extension point does not allow.`;
    found.push({ code: 'proposal_not_allowed', pointer: '/limits/proposals', detail });
  }
  return found;
}

function exportMismatches(module: ModuleInterface, names: readonly string[]): Mismatch[] {
  if (names.length === 0) return [];
  const kinds = new Map(module.exports.map(({ name, kind }) => [name, kind]));
  const wanted = new Set(names);
  const others = module.exports.flatMap(({ name, kind }) => (kind === 'function' && !wanted.has(name) ? [name] : []));
  const found: Mismatch[] = [];
  for (const name of wanted) {
    const kind = kinds.get(name);
    if (kind === 'function') continue;
    const pointer = pointerTo(['exports', name]);
    if (kind !== undefined) {
      const detail = `The module exports ${shown(name)} as a ${kind}; it must be a function.`;
      found.push({ code: 'wrong_kind', pointer, detail });
      continue;
    }
    // Whoever looks for so many names has another module in hand, not typing errors.
    const near = found.length < maxMismatches ? nearestWord(name, others) : undefined;
    const detail = `The module does not export the function ${shown(name)}${near === undefined ? '' : `; it exports ${shown(near)}`}.`;
    found.push({ code: 'missing_export', pointer, detail });
  }
  return found;
}

/** @param names the schema's imports; `undefined` for a schema that says nothing of imports, which leaves WASI to look at */
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
  looksForNear: boolean,
): Omit<Mismatch, 'pointer'> | undefined {
  const names = offered.get(module);
  const what = `${shown(name)} from ${shown(module)}`;
  if (names?.has(name)) {
    if (kind === 'function') return undefined;
    return { code: 'wrong_kind', detail: `The module imports ${what} as a ${kind}; it is a function.` };
  }
  const hint = looksForNear ? hintFor(module, name, offered) : '.';
  return {
    code: 'foreign_import',
    detail: `The module imports ${what}, which the extension point does not offer${hint}`,
  };
}

/** The name that may have been meant, or where it is to be had; the end of the sentence. */
function hintFor(module: string, name: string, offered: ReadonlyMap<string, ReadonlySet<string>>): string {
  const elsewhere = [...offered].find(([, names]) => names.has(name))?.[0];
  if (elsewhere !== undefined) return `; ${shown(name)} is to be had from ${shown(elsewhere)}.`;
  const near = nearestWord(name, offered.get(module) ?? []);
  return near === undefined ? '.' : `; did you mean ${shown(near)}?`;
}
