import { findSection, readSections, SectionId } from '../binary/sections.ts';
import { readOffsetMap } from '../rewrite/code-map.ts';
import { type OffsetMap, originalOffset, outputOffset } from '../rewrite/offset-map.ts';
import { readCodeBounds } from './code-bounds.ts';
import { openDwarf } from './dwarf.ts';
import { findDebugInfo, textOfDataUrl } from './find-debug-info.ts';
import type { LineRange, SourceLocation, SourceLookup, SourceLookupOptions } from './source-lookup.ts';
import { firstInMap, lineRangesInMap, locateInMap, parseSourceMap, type SourceMap } from './source-map.ts';
import type { CodeRange } from './unit-values.ts';

/**
 * Creates a lookup of source locations in a module, instrumented or not, from its DWARF 4 or 5 or its source map. Reads debug
 * information when first needed.
 *
 * ```ts
 * const lookup = createSourceLookup(bytes);
 * lookup?.locate(offset - lookup.codeStart); // [{ file: '/src/parse.c', line: 42, column: 7, function: 'parse' }, …]
 * ```
 *
 * @returns undefined without debug information, and for a `debugFile` of other code
 * @throws InstrumentError if the bytes are not a module
 */
export function createSourceLookup(bytes: Uint8Array, options: SourceLookupOptions = {}): SourceLookup | undefined {
  const { debugFile, sourceMap } = options;
  const locations = readLocations(debugFile ?? bytes, sourceMap);
  if (locations === undefined) return undefined;
  const code = readCodeBounds(bytes);
  const { codeStart } = code;
  const describedBytes = debugFile && codeSize(debugFile);
  const isOther = debugFile !== undefined && describedBytes !== codeSize(bytes);
  const map = isOther ? readOffsetMap(bytes) : undefined;
  if (isOther && map === undefined && describedBytes !== undefined) return undefined;
  const moved = map === undefined ? locations : moveLocations(locations, map);
  return {
    ...moved,
    codeStart,
    functionSource(functionIndex) {
      const body = code.bodyOf(functionIndex);
      return body && moved.declarationIn({ start: body.start - codeStart, end: body.end - codeStart });
    },
  };
}

/** A lookup by offsets in the code that the debug information describes. */
interface Locations extends Pick<SourceLookup, 'kind' | 'locate' | 'lineRanges' | 'files'> {
  /** Where the function with this body is declared, else its first line. */
  readonly declarationIn: (body: CodeRange) => SourceLocation | undefined;
}

function readLocations(bytes: Uint8Array, sourceMap: string | undefined): Locations | undefined {
  if (sourceMap !== undefined) {
    const map = parseSourceMap(sourceMap);
    if (map !== undefined) return locationsInMap(map, bytes);
  }
  const dwarf = openDwarf(bytes);
  if (dwarf !== undefined) return { kind: 'dwarf', ...dwarf };
  const { sourceMapUrl } = findDebugInfo(bytes);
  const text = sourceMapUrl === undefined ? undefined : textOfDataUrl(sourceMapUrl);
  const map = text === undefined ? undefined : parseSourceMap(text);
  return map && locationsInMap(map, bytes);
}

function locationsInMap(map: SourceMap, bytes: Uint8Array): Locations {
  const { codeStart, bodyAt } = readCodeBounds(bytes);
  return {
    kind: 'source-map',
    locate(codeOffset) {
      const offset = codeStart + codeOffset;
      const body = bodyAt(offset);
      // The last mapping of another function says nothing about this one.
      const location = body && locateInMap(map, offset, body.start);
      return location === undefined ? [] : [location];
    },
    declarationIn: ({ start, end }) => firstInMap(map, codeStart + start, codeStart + end),
    lineRanges: (start, end) => lineRangesInMap(map, codeStart + start, codeStart + end, codeStart),
    files: () => [...new Set(map.sources)],
  };
}

/** Turns a lookup for the original code into one for the instrumented code. */
function moveLocations(locations: Locations, map: OffsetMap): Locations {
  const toOriginal = (codeOffset: number) => originalOffset(map, codeOffset);
  const bodyOf = ({ start, end }: CodeRange): CodeRange | undefined => {
    const [first, last] = [toOriginal(start), toOriginal(end - 1)];
    return first === undefined || last === undefined ? undefined : { start: first, end: last + 1 };
  };
  return {
    ...locations,
    locate(codeOffset) {
      const original = toOriginal(codeOffset);
      return original === undefined ? [] : locations.locate(original);
    },
    declarationIn(body) {
      const original = bodyOf(body);
      return original && locations.declarationIn(original);
    },
    lineRanges(start, end) {
      const original = bodyOf({ start, end: Math.min(end, endOf(map)) });
      if (original === undefined) return [];
      return locations.lineRanges(original.start, original.end).flatMap((range): LineRange[] => {
        const from = Math.max(start, outputOffset(map, range.start));
        const to = Math.min(end, outputOffset(map, range.end));
        return from < to ? [{ ...range, start: from, end: to }] : [];
      });
    },
  };
}

/** The end of the code that the original has, too. */
function endOf({ outputs, length }: OffsetMap): number {
  return outputs[length - 1] as number;
}

/** The size of the code section; undefined without one, as in files with debug information alone. */
function codeSize(bytes: Uint8Array): number | undefined {
  const section = findSection(readSections(bytes), SectionId.code);
  return section && section.end - section.contentStart;
}
