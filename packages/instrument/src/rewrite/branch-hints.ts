import { readLocals } from '../binary/code.ts';
import { expectEnd, readCount, readU32, skipBytes } from '../binary/reader.ts';
import { contentReader, type Section } from '../binary/sections.ts';
import { type ByteWriter, writeRange, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import { definitionIndex } from './layout.ts';
import { type OffsetMap, type OffsetMapContext, outputInstruction, outputOffset } from './offset-map.ts';

export const branchHintSection = 'metadata.code.branch_hint';

/**
 * Writes the contents of the section that says which `if` and `br_if` are likely: per function, offsets from the start of
 * its body. The rewriter moves these instructions but doesn't change them.
 * https://webassembly.github.io/branch-hinting/metadata/code/binary.html
 *
 * Throws `invalid_module` for a malformed section, which is legal in a custom section.
 */
export function writeBranchHints(
  writer: ByteWriter,
  context: OffsetMapContext,
  map: OffsetMap,
  section: Section,
): void {
  const { module, layout, scan } = context;
  const reader = contentReader(module.bytes, section);
  const functionCount = readCount(reader, 'the number of functions with hints', 2);
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
    const codeStart = readLocals(module.bytes, start, end, index);
    const outputBody = outputOffset(map, start - map.inputCodeStart);
    const hintCount = readCount(reader, 'the number of hints', 3);
    writeU32(writer, definitionIndex(layout, index));
    writeU32(writer, hintCount);
    let lastBranch = codeStart - start - 1;
    for (let hint = 0; hint < hintCount; hint++) {
      const hintAt = reader.offset;
      const branch = readU32(reader, 'the offset of a branch');
      if (branch <= lastBranch || start + branch >= end) {
        throw invalidModule(`Expected ascending offsets in the body, found ${branch}`, hintAt);
      }
      lastBranch = branch;
      writeU32(writer, outputInstruction(map, start - map.inputCodeStart + branch) - outputBody);
      const dataStart = reader.offset;
      skipBytes(reader, readU32(reader, "a hint's size"), 'a hint');
      writeRange(writer, module.bytes, dataStart, reader.offset);
    }
  }
  expectEnd(reader, 'the branch hints');
}
