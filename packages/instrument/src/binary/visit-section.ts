import { readGlobal } from './globals.ts';
import { type ByteReader, expectEnd, readCount } from './reader.ts';
import type { SectionVisitor } from './section-visitor.ts';
import { contentReader, type Section, SectionId } from './sections.ts';
import { readDataSegment, readElementSegment } from './segments.ts';
import { readTable } from './tables.ts';

export type VisitedSectionId =
  | typeof SectionId.table
  | typeof SectionId.global
  | typeof SectionId.element
  | typeof SectionId.data;

/** The sections that can be visited: what their entries are called, and what reads one. */
const grammars: Readonly<
  Record<VisitedSectionId, readonly [string, (reader: ByteReader, visitor: SectionVisitor) => void]>
> = {
  [SectionId.table]: ['tables', readTable],
  [SectionId.global]: ['globals', readGlobal],
  [SectionId.element]: ['element segments', readElementSegment],
  [SectionId.data]: ['data segments', readDataSegment],
};

/** Reads a section of tables, globals, or segments, which is a vector of entries. */
export function visitSection(bytes: Uint8Array, section: Section, id: VisitedSectionId, visitor: SectionVisitor): void {
  const [entries, readEntry] = grammars[id];
  const reader = contentReader(bytes, section);
  const count = readCount(reader, `the number of ${entries}`);
  visitor.onCount?.(count, reader.offset);
  for (let entry = 0; entry < count; entry++) readEntry(reader, visitor);
  expectEnd(reader, `the ${section.name} section`);
}
