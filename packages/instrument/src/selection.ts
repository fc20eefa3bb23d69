import { decodeUtf8 } from './byte-reader.ts';
import type { InstrumentOptions } from './config.ts';
import { isBuiltin, isManualApi } from './layout.ts';
import type { Module } from './module.ts';
import type { Names } from './names.ts';
import type { Note } from './notes.ts';

/**
 * Decides which functions are traced: 1 in the result, by function index. A name in the configuration matches a name in
 * the `name` section, an export name, or `module.field` of an import. One that matches nothing is noted.
 */
export function selectFunctions(module: Module, names: Names, options: InstrumentOptions, notes: Note[]): Uint8Array {
  const list = options.allowed === undefined ? 'banned' : 'allowed';
  const listed = findListed(module, names, list, options[list] ?? [], notes);
  const traced = new Uint8Array(module.functionTypes.length);
  for (let index = 0; index < traced.length; index++) {
    traced[index] = list === 'allowed' ? (listed[index] as number) : 1 - (listed[index] as number);
  }
  module.importedFunctions.forEach((entry, index) => {
    if (isManualApi(entry)) {
      if (list === 'allowed' && listed[index] === 1) notes.push(manualApiNote(`${entry.module}.${entry.name}`));
      traced[index] = 0;
    }
    if (isBuiltin(entry) && list !== 'allowed') traced[index] = 0;
  });
  return traced;
}

function manualApiNote(name: string): Note {
  const message = `${name} is part of the manual tracing interface and is never traced`;
  return { code: 'import_not_traced', message, name };
}

/** 1 for each function that has one of the names. */
function findListed(
  module: Module,
  names: Names,
  list: 'allowed' | 'banned',
  wanted: readonly string[],
  notes: Note[],
): Uint8Array {
  const listed = new Uint8Array(module.functionTypes.length);
  if (wanted.length === 0) return listed;
  const found = new Map(wanted.map((name) => [name, false]));
  const mark = (index: number, name: string) => {
    if (!found.has(name)) return;
    found.set(name, true);
    listed[index] = 1;
  };
  module.importedFunctions.forEach((entry, index) => {
    mark(index, `${entry.module}.${entry.name}`);
  });
  for (const { kind, index, name } of module.exports) if (kind === 'function') mark(index, name);
  // Decoding a name costs more than comparing its length, and most lengths are not wanted.
  const lengths = new Set(wanted.map((name) => new TextEncoder().encode(name).length));
  for (let index = 0; index < listed.length; index++) {
    const start = names.starts[index] as number;
    const end = names.ends[index] as number;
    if (start !== 0 && lengths.has(end - start)) mark(index, decodeUtf8(module.bytes, start, end) ?? '');
  }
  for (const [name, isFound] of found) {
    if (isFound) continue;
    const message = `No function is called ${JSON.stringify(name)}, which the configuration names as ${list}`;
    notes.push({ code: 'name_not_found', message, list, name });
  }
  return listed;
}
