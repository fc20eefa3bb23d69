/*
 * The functions of a module as columns. A module may have a million, and copying an object for each from the worker to the
 * page would take seconds. Columns are typed arrays, which are transferred without a copy.
 */

/** Where a function's name comes from, as `listFunctions()` says; selections can't refer to functions with `none`. */
export const nameSources = ['name-section', 'export', 'import', 'none'] as const;
export type NameSource = (typeof nameSources)[number];

/** A column of strings. */
export interface Texts {
  /** The concatenated strings in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The end of each. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

export interface FunctionTable {
  readonly count: number;
  /** Imported functions come first. */
  readonly importedCount: number;
  /** As in the module. Selections refer to these. */
  readonly names: Texts;
  /** Demangled; the same object if no name differs. */
  readonly shownNames: Texts;
  /** Size of each body in bytes; 0 for imports. */
  readonly bodyBytes: Uint32Array<ArrayBuffer>;
  /** Indices into {@link nameSources}. */
  readonly sources: Uint8Array<ArrayBuffer>;
}

/** The used part of `FunctionDescription`. */
interface ListedFunction {
  readonly name: string;
  readonly nameSource: NameSource;
  readonly bodyBytes?: number;
}

/**
 * @param functions in the order of their indices
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
    const maxBytes = 3 * text.length; // a UTF-16 code unit takes at most three bytes of UTF-8
    if (end + maxBytes > bytes.length) {
      const larger = new Uint8Array(2 * bytes.length + maxBytes);
      larger.set(bytes);
      bytes = larger;
    }
    end += encoder.encodeInto(text, bytes.subarray(end)).written;
    ends[index] = end;
  });
  return { bytes: bytes.slice(0, end), ends };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // a leading one belongs to the name

function textAt({ bytes, ends }: Texts, index: number): string {
  const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
  return decoder.decode(bytes.subarray(start, ends[index] ?? start));
}

/** The name in the module. */
export function nameAt(table: FunctionTable, index: number): string {
  return textAt(table.names, index);
}

/** The demangled name. */
export function shownNameAt(table: FunctionTable, index: number): string {
  return textAt(table.shownNames, index);
}

export function sourceAt({ sources }: FunctionTable, index: number): NameSource {
  return nameSources[sources[index] ?? 3] ?? 'none';
}

/** The buffers of a table, each once, for a transfer. */
export function buffersOf({ names, shownNames, bodyBytes, sources }: FunctionTable): ArrayBuffer[] {
  const columns = [names.bytes, names.ends, shownNames.bytes, shownNames.ends, bodyBytes, sources];
  return [...new Set(columns.map(({ buffer }) => buffer))];
}
