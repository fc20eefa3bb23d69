import { expectEnd, readByte, readCount, readU32 } from '../binary/reader.ts';
import { contentReader, readSections, SectionId, sectionReader } from '../binary/sections.ts';
import { type ByteWriter, writeByte, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import { addPoint, emptyOffsetMap, type OffsetMap } from './offset-map.ts';

export const codeMapSection = 'tenon.code-map';

const formatVersion = 1;
const hasInserted = 1;
const hasPrologue = 2;

/**
 * Writes the contents of the section that holds an offset map:
 *
 *     version (a byte), offset of the input's code section, number of points, points
 *
 * A point is the gap to the input offset before it; then the change of the distance between input and output, zigzag-coded,
 * times 4, plus 1 if a length of inserted code follows, plus 2 for the two points of a prologue. All are unsigned LEB128.
 */
export function writeCodeMap(
  writer: ByteWriter,
  { inputCodeStart, length, inputs, outputs, inserted }: OffsetMap,
): void {
  writeByte(writer, formatVersion);
  writeU32(writer, inputCodeStart);
  const countOf = (point: number) => (inputs[point] === inputs[point + 1] && point + 1 < length ? 2 : 1);
  let count = 0;
  for (let point = 0; point < length; point += countOf(point)) count++;
  writeU32(writer, count);
  let input = 0;
  let shift = 0;
  for (let first = 0; first < length; first += countOf(first)) {
    const point = first + countOf(first) - 1;
    const own = inserted[point] as number;
    const change = (outputs[point] as number) - (inputs[point] as number) - shift;
    const zigzag = change < 0 ? -2 * change - 1 : 2 * change;
    writeU32(writer, (inputs[point] as number) - input);
    writeU32(writer, 4 * zigzag + (own > 0 ? hasInserted : 0) + (point > first ? hasPrologue : 0));
    if (own > 0) writeU32(writer, own);
    input = inputs[point] as number;
    shift += change;
  }
}

/**
 * Reads the offset map of a module that was instrumented with `codeMap: true`. Returns undefined if it has none. Throws an
 * {@link InstrumentError} if the bytes are not a module, or the map is malformed.
 */
export function readOffsetMap(bytes: Uint8Array): OffsetMap | undefined {
  const sections = readSections(bytes);
  const section = sections.find(({ id, name }) => id === SectionId.custom && name === codeMapSection);
  if (section === undefined) return undefined;
  const reader = contentReader(bytes, section);
  const versionAt = reader.offset;
  const version = readByte(reader, 'the version of the offset map');
  if (version !== formatVersion) {
    throw invalidModule(`Expected version ${formatVersion} of the offset map, found ${version}`, versionAt);
  }
  const inputCodeStart = readU32(reader, 'the offset of the code section');
  const count = readCount(reader, 'the number of points', 2);
  const outputCodeStart = sectionReader(bytes, sections, SectionId.code)?.offset ?? 0;
  const map = emptyOffsetMap(inputCodeStart, outputCodeStart, 2 * count);
  let input = 0;
  let shift = 0;
  let outputBefore = 0;
  for (let point = 0; point < count; point++) {
    const offset = reader.offset;
    input += readU32(reader, 'the gap before a point');
    const coded = readU32(reader, 'the change of the distance');
    const own = (coded & hasInserted) === 0 ? 0 : readU32(reader, 'the length of the inserted code');
    if ((coded & hasPrologue) !== 0) addPoint(map, input, input + shift, 0, true);
    const zigzag = coded >>> 2;
    shift += (zigzag & 1) === 0 ? zigzag >>> 1 : -((zigzag + 1) >>> 1);
    const output = input + shift;
    if (output - own < outputBefore || input > 0xffff_ffff || output > 0xffff_ffff || own > 0xffff) {
      throw invalidModule(`Expected ascending offsets up to 0xffffffff, found ${input} and ${output}`, offset);
    }
    outputBefore = output;
    addPoint(map, input, output, own, true);
  }
  if (count === 0) throw invalidModule('Expected an offset map with points, found none', versionAt);
  expectEnd(reader, 'the offset map');
  return map;
}
