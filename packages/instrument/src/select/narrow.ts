import type { Module } from '../binary/module.ts';
import type { Names } from '../binary/name-section.ts';
import { decodeUtf8 } from '../binary/reader.ts';
import { createSourceLookup } from '../debug-info/create-source-lookup.ts';
import type { Note } from '../notes.ts';
import type { InstrumentOptions } from './config.ts';
import { namespacesOf } from './namespaces.ts';
import { createPatternMatcher } from './pattern.ts';

/** Clears `traced` for functions that `minBytes`, `sourceFiles` or `namespaces` leave out. */
export function narrowSelection(
  module: Module,
  bodyBounds: Uint32Array,
  names: Names,
  options: InstrumentOptions,
  traced: Uint8Array,
  notes: Note[],
): void {
  const { minBytes = 0, sourceFiles, namespaces } = options;
  const importCount = module.importedFunctions.length;
  for (let body = 0; 2 * body < bodyBounds.length; body++) {
    const bodyBytes = (bodyBounds[2 * body + 1] as number) - (bodyBounds[2 * body] as number);
    if (bodyBytes < minBytes) traced[importCount + body] = 0;
  }
  if (sourceFiles !== undefined) {
    const lookup = createSourceLookup(module.bytes, options);
    const reason = lookup === undefined ? ': the module has no debug information' : '';
    const describe = (pattern: string) => `No function has a source file that matches ${pattern}${reason}`;
    keepMatching('sourceFiles', sourceFiles, describe, traced, notes, (index) => {
      const file = index < importCount ? undefined : lookup?.functionSource(index)?.file;
      return file === undefined ? [] : endsOfPath(file);
    });
  }
  if (namespaces !== undefined) {
    const describe = (pattern: string) => `No function is in a namespace that matches ${pattern}`;
    keepMatching('namespaces', namespaces, describe, traced, notes, (index) =>
      namespacesOf(nameOf(module, names, index)),
    );
  }
}

/** Clears `traced` where no pattern matches any of a function's texts. Adds a note for a pattern without a match. */
function keepMatching(
  list: 'sourceFiles' | 'namespaces',
  patterns: readonly string[],
  describe: (pattern: string) => string,
  traced: Uint8Array,
  notes: Note[],
  textsOf: (functionIndex: number) => readonly string[],
): void {
  const wanted = [...new Set(patterns)];
  const match = createPatternMatcher(wanted);
  const missing = new Set(wanted);
  const known = new Map<string, boolean>();
  const matches = (text: string): boolean => {
    let isMatch = known.get(text);
    if (isMatch === undefined) {
      isMatch = false;
      const bytes = utf8.encode(text);
      match(bytes, 0, bytes.length, (pattern) => {
        isMatch = true;
        missing.delete(pattern);
      });
      known.set(text, isMatch);
    }
    return isMatch;
  };
  for (let index = 0; index < traced.length; index++) {
    // Every text is matched, so that `missing` doesn't depend on which one matches first.
    if (textsOf(index).filter(matches).length === 0) traced[index] = 0;
  }
  for (const name of missing) {
    notes.push({ code: 'name_not_found', message: describe(JSON.stringify(name)), list, name });
  }
}

const utf8 = new TextEncoder();

/** A path and what follows each of its separators: `/a/b.c`, `a/b.c`, `b.c`. */
function endsOfPath(path: string): string[] {
  const separators = [...path.replaceAll('\\', '/').matchAll(/\//g)];
  return [path, ...separators.slice(-maxPathParts).map(({ index }) => path.slice(index + 1))].map((end) =>
    end.replaceAll('\\', '/'),
  );
}

/** Bounds the memory for a hostile path. */
const maxPathParts = 32;

/** The name in the `name` section, else `module.field` of an import; empty for other functions. */
function nameOf(module: Module, names: Names, index: number): string {
  const start = names.starts[index] as number;
  if (start !== 0) return decodeUtf8(module.bytes, start, names.ends[index] as number) ?? '';
  const entry = module.importedFunctions[index];
  return entry === undefined ? '' : `${entry.module}.${entry.name}`;
}
