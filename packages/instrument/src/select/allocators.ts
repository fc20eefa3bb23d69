import { type Module, memoryAddressType } from '../binary/module.ts';
import type { Names } from '../binary/name-section.ts';
import { decodeUtf8 } from '../binary/reader.ts';
import { type FunctionType, i32Type } from '../binary/types.ts';
import { InstrumentError } from '../errors.ts';
import type { Note } from '../notes.ts';
import type { InstrumentOptions } from './config.ts';
import { visitNames } from './selection.ts';

/** The parameters of an allocator that matter, by position. Others are passed on. */
export interface AllocatorSignature {
  /** The memory that the call frees or reallocates. */
  readonly pointer?: number;
  /** The number of bytes. */
  readonly size?: number;
  /** A factor of the size. */
  readonly count?: number;
  /** An address to which the call writes the pointer. It returns 0 on success. Without it, the pointer is the result. */
  readonly out?: number;
}

/** A function of the module that allocates or frees memory. */
export interface Allocator {
  readonly functionIndex: number;
  readonly name: string;
  readonly signature: AllocatorSignature;
}

/** The allocators whose names are known, and so the signatures that an option can name. */
const signatures: Readonly<Record<string, AllocatorSignature>> = {
  malloc: { size: 0 },
  calloc: { count: 0, size: 1 },
  realloc: { pointer: 0, size: 1 },
  free: { pointer: 0 },
  aligned_alloc: { size: 1 },
  memalign: { size: 1 },
  posix_memalign: { out: 0, size: 2 },
  __rust_alloc: { size: 0 },
  __rust_alloc_zeroed: { size: 0 },
  __rust_realloc: { pointer: 0, size: 3 },
  __rust_dealloc: { pointer: 0 },
  __rdl_alloc: { size: 0 },
  __rdl_alloc_zeroed: { size: 0 },
  __rdl_realloc: { pointer: 0, size: 3 },
  __rdl_dealloc: { pointer: 0 },
  'runtime.alloc': { size: 0 },
  'runtime.realloc': { pointer: 0, size: 1 },
  'runtime.free': { pointer: 0 },
};

/** Names with a variable part: Rust's crate hash, C++ operators, both mangled and as linkers demangle them, AssemblyScript's runtimes. */
const patterns: readonly (readonly [pattern: RegExp, signature: (match: RegExpExecArray) => string])[] = [
  [/^_RNv\w*7___rustc\d+_(__r(?:ust|dl)_(?:alloc|alloc_zeroed|realloc|dealloc))$/, ([, name = '']) => name],
  [/^__rustc(?:\[\w+\])?::(__r(?:ust|dl)_(?:alloc|alloc_zeroed|realloc|dealloc))$/, ([, name = '']) => name],
  [/^_Zn[wa][jmy](?:St11align_val_t)?(?:RKSt9nothrow_t)?$/, () => 'malloc'],
  [/^_Zd[la]Pv[jmy]?(?:St11align_val_t)?(?:RKSt9nothrow_t)?$/, () => 'free'],
  [/^operator new(?:\[\])?\(unsigned (?:int|long|long long)(?:, [^)]*)?\)$/, () => 'malloc'],
  [/^operator delete(?:\[\])?\(void\*(?:, [^)]*)?\)$/, () => 'free'],
  [/^~lib\/rt\/(?:tlsf|stub)\/__alloc$/, () => 'malloc'],
  [/^~lib\/rt\/(?:tlsf|stub)\/__realloc$/, () => 'realloc'],
  [/^~lib\/rt\/(?:tlsf|stub)\/__free$/, () => 'free'],
];

/** Names that are traced unless the runtime's own allocator, which they call, has its name: `__new` returns another address than it frees. */
const managedNames = /^(?:~lib\/rt\/[\w/]+\/)?__(new|renew)$/;

/** Longer names are of no allocator. */
const maxNameBytes = 200;

/**
 * Finds the module's own allocators: those with a known name, or those that the option lists. Adds a note for a listed name
 * without a function, and for a function whose type doesn't fit.
 */
export function selectAllocators(module: Module, names: Names, options: InstrumentOptions, notes: Note[]): Allocator[] {
  const { memory = false } = options;
  if (memory === false) return [];
  const listed = memory === true ? undefined : readList(memory);
  const found = new Map<number, Allocator>();
  const managed = new Map<number, Allocator>();
  visitNames(module, names, (functionIndex, bytes, start, end) => {
    if (functionIndex < module.importedFunctions.length || end - start > maxNameBytes) return;
    if (found.has(functionIndex)) return;
    const name = decodeUtf8(bytes, start, end) ?? '';
    const signature = listed === undefined ? signatureOf(name) : listed.get(name);
    if (signature !== undefined) found.set(functionIndex, { functionIndex, name, signature });
    const isNew = listed === undefined ? managedNames.exec(name)?.[1] : undefined;
    if (isNew !== undefined) {
      managed.set(functionIndex, {
        functionIndex,
        name,
        signature: isNew === 'new' ? { size: 0 } : { pointer: 0, size: 1 },
      });
    }
  });
  const hasAllocator = [...found.values()].some(({ signature }) => signature.size !== undefined);
  const chosen = hasAllocator || managed.size === 0 ? found : managed;
  noteMissing(listed, chosen, notes);
  const fits = (allocator: Allocator) => {
    if (hasFittingType(module, allocator)) return true;
    notes.push(notTracedNote(allocator));
    return false;
  };
  const allocators = [...chosen.values()].filter(fits);
  if (
    listed === undefined &&
    allocators.length > 0 &&
    !allocators.some(({ signature }) => signature.pointer !== undefined)
  ) {
    const message = 'No function that frees memory has a known name, so all allocations count as live';
    notes.push({ code: 'free_not_found', message });
  }
  return allocators.sort((one, other) => one.functionIndex - other.functionIndex);
}

function signatureOf(name: string): AllocatorSignature | undefined {
  if (Object.hasOwn(signatures, name)) return signatures[name];
  for (const [pattern, known] of patterns) {
    const match = pattern.exec(name);
    if (match !== null) return signatures[known(match)];
  }
  return undefined;
}

/** The signatures by name of a list: `name`, which is known, or `name=known`, such as `pool_get=malloc`. */
function readList(list: readonly string[]): Map<string, AllocatorSignature> {
  return new Map(
    list.map((entry) => {
      const at = entry.lastIndexOf('=');
      const name = at === -1 ? entry : entry.slice(0, at);
      const signature = signatureOf(entry.slice(at + 1));
      if (signature !== undefined && name !== '') return [name, signature];
      const known = Object.keys(signatures).join(', ');
      const message = `Expected each name in "memory" to be an allocator, or "name=allocator" with one of ${known}, found ${JSON.stringify(entry)}`;
      throw new InstrumentError('invalid_config', message);
    }),
  );
}

function noteMissing(
  listed: ReadonlyMap<string, AllocatorSignature> | undefined,
  found: ReadonlyMap<number, Allocator>,
  notes: Note[],
): void {
  if (listed === undefined) {
    if (found.size > 0) return;
    const message =
      'No function has the name of a known allocator, so memory is not traced; list the names of its allocators';
    notes.push({ code: 'allocator_not_found', message });
    return;
  }
  const matched = new Set(Array.from(found.values(), ({ name }) => name));
  for (const name of listed.keys()) {
    if (matched.has(name)) continue;
    const message = `No function of the module itself is called ${JSON.stringify(name)}, which is in "memory"`;
    notes.push({ code: 'name_not_found', message, list: 'memory', name });
  }
}

/** Whether addresses and sizes have the type of addresses, and the result is what the name promises. */
function hasFittingType(module: Module, { functionIndex, signature }: Allocator): boolean {
  const type = module.types[module.functionTypes[functionIndex] as number] as FunctionType;
  const address = memoryAddressType(module);
  const parameters = [signature.pointer, signature.size, signature.count, signature.out];
  const resultType = signature.out === undefined ? address : i32Type;
  const hasResult = signature.size !== undefined;
  if (signature.out !== undefined && module.memories.length === 0) return false;
  if (type.resultCount !== (hasResult ? 1 : 0)) return false;
  if (hasResult && module.bytes[type.resultsStart] !== resultType) return false;
  return parameters.every((at) => at === undefined || parameterType(module, type, at) === address);
}

/** The byte of a parameter's type; undefined unless it and those before it have one byte each. */
function parameterType(
  { bytes }: Module,
  { parametersStart, parameterCount }: FunctionType,
  at: number,
): number | undefined {
  if (at >= parameterCount) return undefined;
  for (let before = 0; before < at; before++) {
    const byte = bytes[parametersStart + before];
    if (byte === undefined || byte < 0x7b || byte > 0x7f) return undefined;
  }
  return bytes[parametersStart + at];
}

function notTracedNote({ functionIndex, name }: Allocator): Note {
  const message = `The allocator ${JSON.stringify(name)} is not traced: its type is not that of an allocator with this name`;
  return { code: 'allocator_not_traced', message, name, functionIndex };
}
