import { readU32 } from './name-section.ts';
import type { TracedFunction } from './span.ts';

/** The functions of a module by index, with their names. */
export interface FunctionNames {
  readonly describe: (index: number) => TracedFunction;
}

/** Finds the source file and line of a function. */
export type FunctionSource = (functionIndex: number) => { readonly file: string; readonly line: number } | undefined;

interface Descriptions {
  readonly demangle?: ((rawName: string) => string | undefined) | undefined;
  readonly source?: FunctionSource | undefined;
}

/**
 * Finds names in the contents of a `name` section, which is read with the first name. Malformed parts are ignored. Each name is
 * decoded and demangled when first needed: modules have up to a million names, and a trace a few hundred.
 */
export function createFunctionNames(
  section: () => Uint8Array | undefined,
  { demangle, source }: Descriptions = {},
): FunctionNames {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const known = new Map<number, TracedFunction>();
  let table: NameTable | undefined;
  return {
    describe(index) {
      const found = known.get(index);
      if (found !== undefined) return found;
      table ??= readNameTable(section() ?? new Uint8Array());
      const range = table.ranges.get(index);
      // Not cached: a module may report any of four billion indices.
      const place = source && attempt(source, index);
      const where = place && place.file !== '' && { file: place.file, ...(place.line > 0 && { line: place.line }) };
      if (range === undefined) return { index, rawName: `func[${index}]`, name: `func[${index}]`, ...where };
      const rawName = decoder.decode(table.bytes.subarray(...range));
      const name = (demangle && attempt(demangle, rawName)) || rawName;
      const described = Object.freeze({ index, rawName, name, ...where });
      known.set(index, described);
      return described;
    },
  };
}

/** Names and debug information are untrusted: what reads them may fail. */
function attempt<Input, Result>(read: (input: Input) => Result | undefined, input: Input): Result | undefined {
  try {
    return read(input);
  } catch {
    return undefined;
  }
}

interface NameTable {
  readonly bytes: Uint8Array;
  /** The bytes of each function's name. */
  readonly ranges: ReadonlyMap<number, readonly [start: number, end: number]>;
}

const functionNamesSubsection = 1;

/** https://webassembly.github.io/spec/core/appendix/custom.html#function-names */
function readNameTable(bytes: Uint8Array): NameTable {
  const ranges = new Map<number, readonly [number, number]>();
  let at = 0;
  while (at < bytes.length) {
    const id = bytes[at];
    const size = readU32(bytes, at + 1, bytes.length);
    if (size === undefined) break;
    const end = Math.min(size.next + size.value, bytes.length);
    if (id === functionNamesSubsection) readFunctionNames(bytes, size.next, end, ranges);
    at = end;
  }
  return { bytes, ranges };
}

function readFunctionNames(
  bytes: Uint8Array,
  start: number,
  end: number,
  ranges: Map<number, readonly [number, number]>,
): void {
  const count = readU32(bytes, start, end);
  let at = count?.next ?? end;
  for (let left = count?.value ?? 0; left > 0; left--) {
    const index = readU32(bytes, at, end);
    const length = index && readU32(bytes, index.next, end);
    if (index === undefined || length === undefined || length.next + length.value > end) return;
    at = length.next + length.value;
    ranges.set(index.value, [length.next, at]);
  }
}
