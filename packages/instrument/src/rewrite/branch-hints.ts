import { expectEnd, readCount, readerOver, readU32, skipBytes } from '../binary/reader.ts';
import type { Section } from '../binary/sections.ts';
import { skipLocals } from '../binary/skip.ts';
import { type ByteWriter, writeRange, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import { type PatchSiteReader, readPatchSites } from '../scan/patch-sites.ts';
import { hookCallLength } from './exit-guard.ts';
import { definitionIndex } from './layout.ts';
import { type BodyContext, exitGuardOf, passSite, prologueLength } from './measure-bodies.ts';

export const branchHintSection = 'metadata.code.branch_hint';

/**
 * Writes the contents of the section that says which `if` and `br_if` are likely: per function, offsets from the start of its
 * body. Neither instruction is changed by the rewriter, only moved by what is put before it.
 * https://webassembly.github.io/branch-hinting/metadata/code/binary.html
 *
 * Throws `invalid_module` for what is malformed in it, which is legal in a custom section.
 */
export function writeBranchHints(writer: ByteWriter, context: BodyContext, section: Section): void {
  const { module, layout, scan } = context;
  const reader = readerOver(module.bytes, section.contentStart, section.end);
  const functionCount = readCount(reader, 'the number of functions with hints', 2);
  writeU32(writer, functionCount);
  const patchSites = scan.partitions.map((partition) =>
    readPatchSites(partition.patchSites, scan.bounds[2 * partition.firstBody] ?? 0),
  );
  let before = layout.importCount - 1;
  for (let entry = 0; entry < functionCount; entry++) {
    const offset = reader.offset;
    const index = readU32(reader, 'a function index');
    if (index <= before || index >= layout.functionCount) {
      throw invalidModule(`Expected ascending indices of functions with a body, found ${index}`, offset);
    }
    before = index;
    const body = index - layout.importCount;
    const partition = scan.partitions.findIndex(({ firstBody, lastBody }) => body >= firstBody && body < lastBody);
    const move = createMover(context, body, patchSites[partition] as PatchSiteReader);
    const hintCount = readCount(reader, 'the number of hints', 3);
    writeU32(writer, definitionIndex(layout, index));
    writeU32(writer, hintCount);
    let lastBranch = -1;
    for (let hint = 0; hint < hintCount; hint++) {
      const hintAt = reader.offset;
      const branch = readU32(reader, 'the offset of a branch');
      const moved = branch > lastBranch ? move(branch) : undefined;
      if (moved === undefined) throw invalidModule(`Expected ascending offsets in the body, found ${branch}`, hintAt);
      lastBranch = branch;
      writeU32(writer, moved);
      const dataStart = reader.offset;
      skipBytes(reader, readU32(reader, "a hint's size"), 'a hint');
      writeRange(writer, module.bytes, dataStart, reader.offset);
    }
  }
  expectEnd(reader, 'the branch hints');
}

/** Tells where an instruction comes to lie, asked in ascending order; undefined for an offset outside of the body's code. */
function createMover(
  context: BodyContext,
  body: number,
  patchSites: PatchSiteReader,
): (offset: number) => number | undefined {
  const { module, layout, scan } = context;
  const start = scan.bounds[2 * body] as number;
  const end = scan.bounds[2 * body + 1] as number;
  const functionIndex = layout.importCount + body;
  const codeStart = skipLocals(module.bytes, start, end, functionIndex);
  const guard = exitGuardOf(context, body);
  const exitBytes = guard === 'none' ? 0 : hookCallLength(functionIndex + layout.shift, layout.exitIndex);
  while (patchSites.next < start) passSite(context, body, exitBytes, patchSites);
  let growth = prologueLength(context, body, guard);
  return (offset) => {
    const place = start + offset;
    if (place < codeStart || place >= end) return undefined;
    while (patchSites.next < place) growth += passSite(context, body, exitBytes, patchSites);
    return offset + growth;
  };
}
