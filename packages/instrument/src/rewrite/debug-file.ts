import { findSection, readSections, type Section, SectionId } from '../binary/sections.ts';
import { createWriter, writeName } from '../binary/writer.ts';
import { InstrumentError, invalidModule } from '../errors.ts';
import { createDebugInfo, debugSectionPrefix } from './debug-info/debug-info.ts';
import type { OffsetMap } from './offset-map.ts';
import type { Parts } from './parts.ts';
import { concatenate, type Piece, sectionHeader } from './pieces.ts';

/** Rewritten debug sections of another file, to be put behind the output. */
export type DebugSections = readonly Piece[];

/**
 * Rewrites the DWARF of the file that `external_debug_info` names. The file describes the module's code, which it may
 * contain. Returns a reason if it can't be rewritten.
 */
export function rewriteDebugFile(
  { module, options }: Parts,
  debugFile: Uint8Array,
  offsetMap: () => OffsetMap,
): DebugSections | string {
  try {
    const sections = readSections(debugFile);
    const code = findSection(sections, SectionId.code);
    if (
      code !== undefined &&
      !isSameCode(debugFile, code, module.bytes, findSection(module.sections, SectionId.code))
    ) {
      return 'its code is not that of the module';
    }
    const debugSections = sections.filter(
      ({ id, name }) => id === SectionId.custom && name.startsWith(debugSectionPrefix),
    );
    if (debugSections.length === 0) throw invalidModule('Expected debug sections, found none', debugFile.length);
    const contentsOf = createDebugInfo({ bytes: debugFile, sections }, options, offsetMap);
    const pieces: Piece[] = [];
    for (const section of debugSections) {
      const contents = contentsOf(section);
      if (typeof contents === 'string') return contents;
      const writer = createWriter(64);
      writeName(writer, section.name);
      pieces.push(sectionHeader(SectionId.custom, writer.length + contents.length));
      pieces.push(writer.bytes.subarray(0, writer.length), contents);
    }
    return pieces;
  } catch (error) {
    if (error instanceof InstrumentError) return `it is malformed: ${error.message}`;
    throw error;
  }
}

function isSameCode(bytes: Uint8Array, code: Section, others: Uint8Array, other: Section | undefined): boolean {
  if (other === undefined || code.end - code.contentStart !== other.end - other.contentStart) return false;
  for (let at = code.contentStart, place = other.contentStart; at < code.end; at++, place++) {
    if (bytes[at] !== others[place]) return false;
  }
  return true;
}

/** The debug file for an output: the output with the debug sections. */
export function createDebugFile(output: Uint8Array, sections: DebugSections): Uint8Array<ArrayBuffer> {
  const named = readSections(output).filter(
    ({ id, name }) => id === SectionId.custom && name === 'external_debug_info',
  );
  const pieces: Piece[] = [];
  let copied = 0;
  for (const { start, end } of named) {
    pieces.push(output.subarray(copied, start));
    copied = end;
  }
  return concatenate([...pieces, output.subarray(copied), ...sections]);
}
