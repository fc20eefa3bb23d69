import { lastUpTo } from './innermost.ts';
import type { LineRange, SourceLocation } from './source-lookup.ts';

/** The mappings of a module's source map: one line, whose columns are offsets in the file. */
export interface SourceMap {
  readonly sources: readonly string[];
  readonly names: readonly string[];
  /** By ascending offset in the file. */
  readonly offsets: Float64Array;
  /** The index among the sources; -1: no source. */
  readonly source: Int32Array;
  /** From 0. */
  readonly line: Int32Array;
  readonly column: Int32Array;
  /** The index among the names; -1: no name. */
  readonly name: Int32Array;
}

/** Reads a source map, which may have sections. https://tc39.es/ecma426/ Returns undefined for anything else. */
export function parseSourceMap(text: string): SourceMap | undefined {
  const map = parseJson(text);
  if (map === undefined) return undefined;
  const collected: Collected = {
    rootCharacters: maxRootCharacters,
    sources: [],
    names: [],
    offset: [],
    source: [],
    line: [],
    column: [],
    name: [],
  };
  if (Array.isArray(map.sections)) {
    for (const section of map.sections) {
      if (!isRecord(section) || !isRecord(section.offset) || !isRecord(section.map)) continue;
      const { line, column } = section.offset;
      if (line === 0 && typeof column === 'number' && column >= 0) addMap(section.map, column, collected);
    }
  } else addMap(map, 0, collected);
  const { offset } = collected;
  if (offset.length === 0) return undefined;
  const order = Uint32Array.from(offset, (_, at) => at);
  if (offset.some((value, at) => at > 0 && value < (offset[at - 1] as number))) {
    order.sort((a, b) => (offset[a] as number) - (offset[b] as number) || a - b);
  }
  const inOrder = (values: readonly number[]) => Int32Array.from(order, (at) => values[at] as number);
  return {
    sources: collected.sources,
    names: collected.names,
    offsets: Float64Array.from(order, (at) => offset[at] as number),
    source: inOrder(collected.source),
    line: inOrder(collected.line),
    column: inOrder(collected.column),
    name: inOrder(collected.name),
  };
}

/** The location at an offset in the file, by the last mapping from `from` on. */
export function locateInMap(map: SourceMap, offset: number, from: number): SourceLocation | undefined {
  const at = lastUpTo(map.offsets, offset);
  return at === -1 || (map.offsets[at] as number) < from ? undefined : locationOf(map, at);
}

/** The first location in a range of the file. */
export function firstInMap(map: SourceMap, start: number, end: number): SourceLocation | undefined {
  for (let at = lastUpTo(map.offsets, start - 1) + 1; (map.offsets[at] as number) < end; at++) {
    const location = locationOf(map, at);
    if (location !== undefined) return location;
  }
  return undefined;
}

/** The lines in a range of the file. `base` is subtracted from offsets. */
export function lineRangesInMap(map: SourceMap, start: number, end: number, base: number): LineRange[] {
  const ranges: LineRange[] = [];
  const count = map.offsets.length;
  const first = lastUpTo(map.offsets, start - 1) + 1;
  for (let at = first; at < count && (map.offsets[at] as number) < end; at++) {
    const location = locationOf(map, at);
    const from = map.offsets[at] as number;
    const to = at + 1 < count ? Math.min(map.offsets[at + 1] as number, end) : end;
    if (location === undefined || from === to) continue;
    const { file, line, column } = location;
    ranges.push({ start: from - base, end: to - base, file, line, column });
  }
  return ranges;
}

function locationOf(map: SourceMap, at: number): SourceLocation | undefined {
  const file = map.sources[map.source[at] as number];
  if (file === undefined) return undefined;
  const name = map.names[map.name[at] as number];
  const place = { file, line: (map.line[at] as number) + 1, column: (map.column[at] as number) + 1 };
  return name === undefined ? place : { ...place, function: name };
}

/** Bounds the memory for a long root of many sources, which then go without it. */
const maxRootCharacters = 16_777_216;

/** The columns of {@link SourceMap} in the order of the text. */
type Collected = Readonly<Record<'sources' | 'names', string[]> & Record<Column, number[]>> & {
  /** How many characters of roots may still be added to sources. */
  rootCharacters: number;
};
type Column = 'offset' | 'source' | 'line' | 'column' | 'name';

function addMap(map: Readonly<Record<string, unknown>>, start: number, collected: Collected): void {
  if (map.version !== 3 || typeof map.mappings !== 'string' || !Array.isArray(map.sources)) return;
  const { sources, names } = collected;
  const wholeRoot =
    typeof map.sourceRoot === 'string' && map.sourceRoot !== '' ? map.sourceRoot.replace(/\/?$/, '/') : '';
  const rootCharacters = wholeRoot.length * map.sources.length;
  const root = rootCharacters > collected.rootCharacters ? '' : wholeRoot;
  if (root !== '') collected.rootCharacters -= rootCharacters;
  const firstSource = sources.length;
  const firstName = names.length;
  for (const source of map.sources) sources.push(typeof source === 'string' ? `${root}${source}` : '(unknown)');
  if (Array.isArray(map.names)) for (const name of map.names) names.push(typeof name === 'string' ? name : '(unknown)');
  const [firstLine = ''] = map.mappings.split(';', 1);
  let offset = start;
  let [source, line, column, name] = [0, 0, 0, 0];
  for (const fields of segmentsOf(firstLine)) {
    offset += fields[0] as number;
    source += fields[1] ?? 0;
    line += fields[2] ?? 0;
    column += fields[3] ?? 0;
    name += fields[4] ?? 0;
    const isKnown = fields.length > 1 && source >= 0 && source < sources.length - firstSource && line >= 0;
    collected.offset.push(offset);
    collected.source.push(isKnown ? firstSource + source : -1);
    collected.line.push(line);
    collected.column.push(column);
    collected.name.push(fields.length === 5 && name >= 0 ? firstName + name : -1);
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digits = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 64; digit++) digits[alphabet.charCodeAt(digit)] = digit;

/** The fields of each segment: 1, 4 or 5 numbers. Stops at the first malformed one. */
function* segmentsOf(line: string): Generator<readonly number[]> {
  let fields: number[] = [];
  let value = 0;
  let shift = 0;
  for (let at = 0; at <= line.length; at++) {
    const code = at === line.length ? comma : line.charCodeAt(at);
    if (code === comma) {
      if (shift !== 0 || ![0, 1, 4, 5].includes(fields.length)) return;
      if (fields.length > 0) yield fields;
      fields = [];
      continue;
    }
    const digit = digits[code] ?? -1;
    if (digit === -1 || shift > 30) return;
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit & 32) continue;
    fields.push(value % 2 === 1 ? -(value - 1) / 2 : value / 2);
    value = 0;
    shift = 0;
  }
}

const comma = 0x2c;

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    // Servers may put this before JSON, so that a page can't load it as a script.
    const value: unknown = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, ''));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
