import { readLocals } from '../binary/code.ts';
import { type ByteReader, expectEnd, readCount, readerOver, readU32, skipBytes } from '../binary/reader.ts';
import { contentReader, type Section } from '../binary/sections.ts';
import { type ByteWriter, writeRange, writeSized, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import type { OffsetMapContext } from './create-offset-map.ts';
import { definitionIndex, referenceIndex } from './layout.ts';
import { type OffsetMap, outputInstruction, outputOffset } from './offset-map.ts';

/**
 * Writes the contents of a section with code metadata: per function, offsets from the start of its body, each with a payload.
 * The metadata stays on its instruction. An offset of 0 means the function. `writePayload` copies the payload by default.
 * https://github.com/WebAssembly/tool-conventions/blob/main/CodeMetadata.md
 *
 * Throws `invalid_module` for a malformed section, which is legal in a custom section.
 */
export function writeCodeMetadata(
  writer: ByteWriter,
  context: OffsetMapContext,
  map: OffsetMap,
  section: Section,
  writePayload: (writer: ByteWriter, context: OffsetMapContext, payload: ByteReader) => void = copyPayload,
): void {
  const { module, layout, scan } = context;
  const reader = contentReader(module.bytes, section);
  const functionCount = readCount(reader, 'the number of functions with metadata', 2);
  writeU32(writer, functionCount);
  let before = layout.importCount - 1;
  for (let entry = 0; entry < functionCount; entry++) {
    const offset = reader.offset;
    const index = readU32(reader, 'a function index');
    if (index <= before || index >= layout.functionCount) {
      throw invalidModule(`Expected ascending indices of functions with a body, found ${index}`, offset);
    }
    before = index;
    const body = index - layout.importCount;
    const start = scan.bounds[2 * body] as number;
    const end = scan.bounds[2 * body + 1] as number;
    const firstInstruction = readLocals(module.bytes, start, end, index) - start;
    const outputBody = outputOffset(map, start - map.inputCodeStart);
    const itemCount = readCount(reader, 'the number of items', 2);
    writeU32(writer, definitionIndex(layout, index));
    writeU32(writer, itemCount);
    let last = -1;
    for (let item = 0; item < itemCount; item++) {
      const itemAt = reader.offset;
      const instruction = readU32(reader, 'the offset of an instruction');
      const isInCode = instruction === 0 || (instruction >= firstInstruction && start + instruction < end);
      if (instruction <= last || !isInCode) {
        throw invalidModule(`Expected ascending offsets in the body, found ${instruction}`, itemAt);
      }
      last = instruction;
      const moved = outputInstruction(map, start - map.inputCodeStart + instruction) - outputBody;
      writeU32(writer, instruction === 0 ? 0 : moved);
      const size = readU32(reader, 'the size of a payload');
      const payload = readerOver(module.bytes, reader.offset, reader.offset + size);
      skipBytes(reader, size, 'a payload');
      writeSized(writer, size, () => writePayload(writer, context, payload));
    }
  }
  expectEnd(reader, 'the code metadata');
}

function copyPayload(writer: ByteWriter, _: OffsetMapContext, { bytes, offset, end }: ByteReader): void {
  writeRange(writer, bytes, offset, end);
}

/**
 * Writes the likely targets of an indirect call: function indices, each with its share of the calls.
 * https://github.com/WebAssembly/compilation-hints
 */
export function writeCallTargets(writer: ByteWriter, { layout }: OffsetMapContext, payload: ByteReader): void {
  while (payload.offset < payload.end) {
    const { offset } = payload;
    const index = readU32(payload, 'a function index');
    if (index >= layout.functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
    writeU32(writer, referenceIndex(layout, index));
    writeU32(writer, readU32(payload, 'a share of the calls'));
  }
}
