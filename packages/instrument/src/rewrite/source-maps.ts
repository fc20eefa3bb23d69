import { type ByteWriter, createWriter, reserve, writeByte, writeRange } from '../binary/writer.ts';

/** How the offsets in a module's file change, which are the columns of its source map. */
export interface FileOffsets {
  readonly toOutput: (inputOffset: number) => number;
  /** The offset of the functions that the input doesn't have, behind the input's own functions. */
  readonly addedCodeStart: number;
}

/** A source map that can't be read. */
export class SourceMapError extends Error {
  override readonly name = 'SourceMapError';
}

/**
 * Rewrites the source map of a module: one line, whose columns are offsets in the file. Everything else stays, apart from
 * `scopes`, whose offsets are not read. https://tc39.es/ecma426/
 *
 * Throws a {@link SourceMapError} if the text is malformed.
 */
export function rewriteSourceMap(text: string, offsets: FileOffsets): string {
  // Servers may put `)]}'` before JSON, so that a page can't load it as a script.
  const map = parseObject(text.replace(/^\)\]\}'[^\n]*\n/, ''));
  return JSON.stringify(Array.isArray(map.sections) ? rewriteIndexMap(map, offsets) : rewriteMap(map, 0, 0, offsets));
}

type JsonObject = Readonly<Record<string, unknown>>;

function rewriteIndexMap(map: JsonObject, offsets: FileOffsets): JsonObject {
  const count = (map.sections as unknown[]).length;
  const sections = (map.sections as unknown[]).map((section, place) => {
    if (!isObject(section) || !isObject(section.offset) || !isObject(section.map)) {
      throw new SourceMapError('a section has no "offset" or no "map"');
    }
    const { line, column } = section.offset;
    if (line !== 0 || typeof column !== 'number' || !isOffset(column)) {
      throw new SourceMapError('a section does not start in line 0');
    }
    const start = offsets.toOutput(column);
    const added = place === count - 1 ? offsets : { ...offsets, addedCodeStart: 0 };
    const rewritten = rewriteMap(section.map, column, start, added);
    return { ...section, offset: { ...section.offset, column: start }, map: rewritten };
  });
  return { ...map, sections };
}

/** Columns count from `inputStart` in the input, and from `outputStart` in the output. */
function rewriteMap(map: JsonObject, inputStart: number, outputStart: number, offsets: FileOffsets): JsonObject {
  if (map.version !== 3) throw new SourceMapError('"version" is not 3');
  if (typeof map.mappings !== 'string') throw new SourceMapError('"mappings" is not a string');
  const { scopes: _, ...rest } = map;
  return { ...rest, mappings: rewriteMappings(map.mappings, inputStart, outputStart, offsets) };
}

/**
 * Replaces the first field of each segment, the difference of two columns. The other fields are differences of positions in
 * sources, which stay as they are.
 */
function rewriteMappings(mappings: string, inputStart: number, outputStart: number, offsets: FileOffsets): string {
  const line = ascii.encode(mappings.split(';', 1)[0]);
  const writer = createWriter(line.length + (line.length >> 3) + 16);
  const { toOutput, addedCodeStart } = offsets;
  let input = inputStart;
  let lastOutput = outputStart;
  for (let at = 0; at < line.length; ) {
    if (line[at] === comma) {
      at++;
      continue;
    }
    const field = readField(line, at);
    input += field.value;
    if (!isOffset(input)) throw new SourceMapError(`a mapping has the column ${input}`);
    const output = toOutput(input);
    if (writer.length > 0) writeByte(writer, comma);
    writeField(writer, output - lastOutput);
    lastOutput = output;
    const end = skipFields(line, field.end);
    writeRange(writer, line, field.end, end);
    at = end;
  }
  // The added functions have no source.
  if (writer.length > 0 && lastOutput < addedCodeStart) {
    writeByte(writer, comma);
    writeField(writer, addedCodeStart - lastOutput);
  }
  return ascii.decode(writer.bytes.subarray(0, writer.length));
}

/** A file has at most 4 GiB. */
function isOffset(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

const comma = 0x2c;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digits = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 64; digit++) digits[alphabet.charCodeAt(digit)] = digit;
const characters = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));

const ascii = {
  encode: (text: string | undefined) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};

/** Reads a signed number in base 64 with the lowest digit first, and the sign in its lowest bit. */
function readField(line: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, scale = 1; at < start + maxFieldLength; at++, scale *= 32) {
    const digit = digits[line[at] ?? 0] as number;
    if (digit === -1) break;
    value += (digit & 31) * scale;
    if (digit < 32) return { value: value % 2 === 1 ? -(value - 1) / 2 : value / 2, end: at + 1 };
  }
  throw new SourceMapError(`the mappings are malformed at character ${start}`);
}

/** The digits of a number below 2^32 with its sign. */
const maxFieldLength = 7;

/** Returns the end of a segment, which has 0, 3 or 4 fields more. */
function skipFields(line: Uint8Array, start: number): number {
  let count = 0;
  let at = start;
  while (at < line.length && line[at] !== comma) {
    at = readField(line, at).end;
    count++;
  }
  if (count !== 0 && count !== 3 && count !== 4) {
    throw new SourceMapError(`the mappings are malformed at character ${start}`);
  }
  return at;
}

function writeField(writer: ByteWriter, value: number): void {
  reserve(writer, maxFieldLength);
  let rest = value < 0 ? -2 * value + 1 : 2 * value;
  while (rest >= 32) {
    writer.bytes[writer.length++] = characters[32 + (rest % 32)] as number;
    rest = Math.floor(rest / 32);
  }
  writer.bytes[writer.length++] = characters[rest] as number;
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SourceMapError('it is not JSON');
  }
  if (!isObject(value)) throw new SourceMapError('it is not an object');
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
