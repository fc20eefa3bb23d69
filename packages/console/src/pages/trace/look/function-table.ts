/*
 * The functions of a module as columns: a module may have a million, and an object for each would cost seconds to hand from a worker
 * to the page. A column is a typed array, which is handed over without being copied.
 */

/** Where a function's name comes from, as `listFunctions()` says; a choice can't speak of one that has `none`. */
export const nameSources = ['name-section', 'export', 'import', 'none'] as const;
export type NameSource = (typeof nameSources)[number];

/** A column of texts. */
export interface Texts {
  /** All of them, one after the other, in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

export interface FunctionTable {
  readonly count: number;
  /** Those come first. */
  readonly importedCount: number;
  /** As they stand in the module: a choice speaks of these. */
  readonly names: Texts;
  /** As people write them; the same object where that is the same throughout. */
  readonly shownNames: Texts;
  /** Size of each body in bytes; 0 of what is imported. */
  readonly bodyBytes: Uint32Array<ArrayBuffer>;
  /** An index into {@link nameSources} each. */
  readonly sources: Uint8Array<ArrayBuffer>;
}

/** What is asked of a function; `FunctionDescription` of `@tenon/instrument` is one. */
interface ListedFunction {
  readonly name: string;
  readonly nameSource: NameSource;
  readonly bodyBytes?: number;
}

/**
 * @param functions in the order of their indices
 * @param demangle writes a name as people do
 */
export function createFunctionTable(
  functions: readonly ListedFunction[],
  demangle: (name: string) => string = (name) => name,
): FunctionTable {
  const count = functions.length;
  const bodyBytes = new Uint32Array(count);
  const sources = new Uint8Array(count);
  let importedCount = 0;
  functions.forEach(({ nameSource, bodyBytes: size }, index) => {
    if (size === undefined) importedCount += 1;
    bodyBytes[index] = size ?? 0;
    sources[index] = nameSources.indexOf(nameSource);
  });
  const raw = functions.map(({ name }) => name);
  const shown = raw.map(demangle);
  const names = encodeTexts(raw);
  const shownNames = shown.every((name, index) => name === raw[index]) ? names : encodeTexts(shown);
  return { count, importedCount, names, shownNames, bodyBytes, sources };
}

function encodeTexts(texts: readonly string[]): Texts {
  const encoder = new TextEncoder();
  const ends = new Uint32Array(texts.length);
  let bytes = new Uint8Array(Math.max(1024, texts.length * 32));
  let end = 0;
  texts.forEach((text, index) => {
    const most = 3 * text.length; // a unit of UTF-16 takes three bytes of UTF-8 at the most
    if (end + most > bytes.length) {
      const larger = new Uint8Array(2 * bytes.length + most);
      larger.set(bytes);
      bytes = larger;
    }
    end += encoder.encodeInto(text, bytes.subarray(end)).written;
    ends[index] = end;
  });
  return { bytes: bytes.slice(0, end), ends };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // one at the beginning belongs to the name

function textAt({ bytes, ends }: Texts, index: number): string {
  const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
  return decoder.decode(bytes.subarray(start, ends[index] ?? start));
}

/** The name as it stands in the module. */
export function nameAt(table: FunctionTable, index: number): string {
  return textAt(table.names, index);
}

/** The name as people write it. */
export function shownNameAt(table: FunctionTable, index: number): string {
  return textAt(table.shownNames, index);
}

export function sourceAt({ sources }: FunctionTable, index: number): NameSource {
  return nameSources[sources[index] ?? 3] ?? 'none';
}

/** The buffers of a table, each once, to be handed over rather than copied. */
export function buffersOf({ names, shownNames, bodyBytes, sources }: FunctionTable): ArrayBuffer[] {
  const columns = [names.bytes, names.ends, shownNames.bytes, shownNames.ends, bodyBytes, sources];
  return [...new Set(columns.map(({ buffer }) => buffer))];
}
