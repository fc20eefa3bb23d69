import { isBuiltin, isManualApi } from '../binary/imports.ts';
import type { Module } from '../binary/module.ts';
import type { Names } from '../binary/name-section.ts';
import { decodeUtf8 } from '../binary/reader.ts';
import { maxNearNames } from '../limits.ts';
import type { Note } from '../notes.ts';
import type { InstrumentOptions } from './config.ts';
import { narrowSelection } from './narrow.ts';
import { createNearNameSearch } from './near-name.ts';
import { createPatternMatcher, hasWildcard } from './pattern.ts';
import { findReachable } from './reachable.ts';

/** Options that contain names of functions. */
type NameList = 'allowed' | 'banned' | 'reachableFrom';

/** Receives a name of a function as a range of UTF-8 bytes. */
type NameVisitor = (functionIndex: number, bytes: Uint8Array, start: number, end: number) => void;

const utf8 = new TextEncoder();

/**
 * Selects the functions to trace, and returns 1 for each, by function index. A configured name matches a name in the `name`
 * section, an export name, or `module.field` of an import. Adds a note for a name or pattern without a match.
 */
export function selectFunctions(
  module: Module,
  bodyBounds: Uint32Array,
  names: Names,
  options: InstrumentOptions,
  notes: Note[],
): Uint8Array {
  if (options.trace === false) return new Uint8Array(module.functionTypes.length);
  const list = options.allowed === undefined ? 'banned' : 'allowed';
  const listed = findListed(module, list, options, notes, (visit) => visitNames(module, names, visit));
  const traced = new Uint8Array(module.functionTypes.length);
  for (let index = 0; index < traced.length; index++) {
    traced[index] = list === 'allowed' ? (listed[index] as number) : 1 - (listed[index] as number);
  }
  module.importedFunctions.forEach((entry, index) => {
    if (isManualApi(entry)) {
      const name = `${entry.module}.${entry.name}`;
      if (list === 'allowed' && listed[index] === 1) notes.push(manualApiNote(name));
      traced[index] = 0;
    }
    if (isBuiltin(entry) && list !== 'allowed') traced[index] = 0;
  });
  if (options.reachableFrom !== undefined) {
    const roots = findListed(module, 'reachableFrom', options, notes, (visit) => visitExports(module, visit));
    const reached = findReachable(module, bodyBounds, rootsOf(roots));
    for (let index = 0; index < traced.length; index++) if (reached[index] === 0) traced[index] = 0;
  }
  narrowSelection(module, bodyBounds, names, options, traced, notes);
  return traced;
}

function* rootsOf(listed: Uint8Array): Generator<number> {
  for (let index = 0; index < listed.length; index++) if (listed[index] === 1) yield index;
}

function manualApiNote(name: string): Note {
  const message = `${name} is part of the manual tracing interface and is never traced`;
  return { code: 'import_not_traced', message, name };
}

/** 1 for each function that has one of the names in a list. `visitAll` visits the names that the list can contain. */
function findListed(
  module: Module,
  list: NameList,
  options: InstrumentOptions,
  notes: Note[],
  visitAll: (visit: NameVisitor) => void,
): Uint8Array {
  const listed = new Uint8Array(module.functionTypes.length);
  const wanted = new Set(options[list]);
  if (wanted.size === 0) return listed;
  const matched = new Set<string>();
  const mark = (functionIndex: number, name: string) => {
    matched.add(name);
    listed[functionIndex] = 1;
  };
  const isPattern = (name: string) => options.patterns === true && hasWildcard(name);
  const patterns = [...wanted].filter(isPattern);
  const exact = new Set([...wanted].filter((name) => !isPattern(name)));
  visitAll(exactly(exact, mark));
  if (patterns.length > 0) {
    visitAll(
      byPattern(patterns, (functionIndex, pattern) => {
        matched.add(pattern);
        if (isForPatterns(module, functionIndex, pattern)) listed[functionIndex] = 1;
      }),
    );
  }
  const missing = [...wanted].filter((name) => !matched.has(name));
  notes.push(...notFoundNotes(list, missing, options.patterns === true, visitAll));
  return listed;
}

/** Compares lengths first, because decoding a name costs more. */
function exactly(wanted: ReadonlySet<string>, mark: (functionIndex: number, name: string) => void): NameVisitor {
  const lengths = new Set(Array.from(wanted, (name) => utf8.encode(name).length));
  return (functionIndex, bytes, start, end) => {
    if (!lengths.has(end - start)) return;
    const name = decodeUtf8(bytes, start, end);
    if (name !== undefined && wanted.has(name)) mark(functionIndex, name);
  };
}

function byPattern(patterns: readonly string[], mark: (functionIndex: number, pattern: string) => void): NameVisitor {
  const match = createPatternMatcher(patterns);
  return (functionIndex, bytes, start, end) => {
    match(bytes, start, end, (pattern) => mark(functionIndex, pattern));
  };
}

/** Whether a pattern may select the function. A "*" doesn't select functions that are untraced by default. */
function isForPatterns(module: Module, functionIndex: number, pattern: string): boolean {
  const entry = module.importedFunctions[functionIndex];
  if (entry === undefined) return true;
  return !isManualApi(entry) && (!isBuiltin(entry) || pattern.startsWith('wasm:'));
}

/** Visits all names that a configuration can contain. A function may have several. */
export function visitNames(module: Module, names: Names, visit: NameVisitor): void {
  const visitText = (functionIndex: number, name: string) => {
    const bytes = utf8.encode(name);
    visit(functionIndex, bytes, 0, bytes.length);
  };
  module.importedFunctions.forEach((entry, index) => {
    visitText(index, `${entry.module}.${entry.name}`);
  });
  visitExports(module, visit);
  for (let index = 0; index < names.starts.length; index++) {
    const start = names.starts[index] as number;
    if (start !== 0) visit(index, module.bytes, start, names.ends[index] as number);
  }
}

function visitExports(module: Module, visit: NameVisitor): void {
  for (const { kind, index, nameStart, nameEnd } of module.exports) {
    if (kind === 'function') visit(index, module.bytes, nameStart, nameEnd);
  }
}

/** A note for each name without a match. The first ones include a similar name. */
function notFoundNotes(
  list: NameList,
  missing: readonly string[],
  hasPatterns: boolean,
  visitAll: (visit: NameVisitor) => void,
): Note[] {
  const searched = missing.slice(0, maxNearNames).filter((name) => !hasPatterns || !hasWildcard(name));
  const searches = new Map(searched.map((name) => [name, createNearNameSearch(utf8.encode(name))]));
  if (searches.size > 0) {
    visitAll((_, bytes, start, end) => {
      for (const search of searches.values()) search.offer(bytes, start, end);
    });
  }
  return missing.map((name): Note => {
    const what = list === 'reachableFrom' ? 'exported function' : 'function';
    const message = `No ${what} is called ${JSON.stringify(name)}, which is in "${list}"`;
    const note = { code: 'name_not_found', list, name } as const;
    const hint = misunderstanding(name, hasPatterns);
    if (hint !== undefined) return { ...note, message: `${message}; ${hint}` };
    const near = searches.get(name)?.nearest();
    const nearName = near && decodeUtf8(near, 0, near.length);
    if (nearName === undefined) return { ...note, message };
    return { ...note, message: `${message}; is ${JSON.stringify(nearName)} meant?`, nearName };
  });
}

/** A hint at the likely mistake in a name. */
function misunderstanding(name: string, hasPatterns: boolean): string | undefined {
  if (!hasPatterns && /[*?]/.test(name)) return 'the option "patterns" would make a pattern of it';
  if (/^func\[\d+\]$/.test(name))
    return 'a trace shows functions without a name like this; only named functions can be listed';
  return undefined;
}
