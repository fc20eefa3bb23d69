import { type CodeBounds, readCodeBounds } from './code-bounds.ts';
import { type Dwarf, openDwarf } from './dwarf.ts';
import { findDebugInfo, textOfDataUrl } from './find-debug-info.ts';
import type { SourceLookup, SourceLookupOptions } from './source-lookup.ts';
import { firstInMap, lineRangesInMap, locateInMap, parseSourceMap, type SourceMap } from './source-map.ts';

/**
 * Creates a lookup of source locations in a module, instrumented or not, from its DWARF 4 or 5 or its source map. Reads debug
 * information when first needed.
 *
 * ```ts
 * const lookup = createSourceLookup(bytes);
 * lookup?.locate(offset - lookup.codeStart); // [{ file: '/src/parse.c', line: 42, column: 7, function: 'parse' }, …]
 * ```
 *
 * @returns undefined without debug information
 * @throws InstrumentError if the bytes are not a module
 */
export function createSourceLookup(bytes: Uint8Array, options: SourceLookupOptions = {}): SourceLookup | undefined {
  const { sourceMapUrl } = findDebugInfo(bytes);
  const text = options.sourceMap ?? (sourceMapUrl === undefined ? undefined : textOfDataUrl(sourceMapUrl));
  const map = text === undefined ? undefined : parseSourceMap(text);
  if (map !== undefined && options.sourceMap !== undefined) return sourceMapLookup(map, readCodeBounds(bytes));
  const dwarf = openDwarf(options.debugFile ?? bytes);
  if (dwarf !== undefined) return dwarfLookup(dwarf, readCodeBounds(bytes));
  return map && sourceMapLookup(map, readCodeBounds(bytes));
}

function dwarfLookup(dwarf: Dwarf, code: CodeBounds): SourceLookup {
  const { codeStart } = code;
  return {
    kind: 'dwarf',
    codeStart,
    locate: dwarf.locate,
    lineRanges: dwarf.lineRanges,
    files: dwarf.files,
    functionSource(functionIndex) {
      const body = code.bodyOf(functionIndex);
      return body && dwarf.declarationAt({ start: body.start - codeStart, end: body.end - codeStart });
    },
  };
}

function sourceMapLookup(map: SourceMap, code: CodeBounds): SourceLookup {
  const { codeStart } = code;
  return {
    kind: 'source-map',
    codeStart,
    locate(codeOffset) {
      const offset = codeStart + codeOffset;
      const body = code.bodyAt(offset);
      // The last mapping of another function says nothing about this one.
      const location = body && locateInMap(map, offset, body.start);
      return location === undefined ? [] : [location];
    },
    functionSource(functionIndex) {
      const body = code.bodyOf(functionIndex);
      return body && firstInMap(map, body.start, body.end);
    },
    lineRanges: (start, end) => lineRangesInMap(map, codeStart + start, codeStart + end, codeStart),
    files: () => [...new Set(map.sources)],
  };
}
