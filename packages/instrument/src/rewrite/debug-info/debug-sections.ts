import type { ByteReader } from '../../binary/reader.ts';
import { contentReader, type Section } from '../../binary/sections.ts';
import { invalidModule } from '../../errors.ts';
import type { OffsetMap } from '../offset-map.ts';

/** The debug sections of a module, by name, and their new contents. */
export interface DebugSections {
  readonly bytes: Uint8Array;
  /** Offsets in the code section. */
  readonly code: OffsetMap;
  /** The offset after the last function body: greater addresses are not in the code and stay as they are. */
  readonly codeEnd: number;
  readonly byName: ReadonlyMap<string, Section>;
  readonly contents: Map<string, Uint8Array>;
}

export function createDebugSections(bytes: Uint8Array, code: OffsetMap, sections: readonly Section[]): DebugSections {
  const byName = new Map<string, Section>();
  for (const section of sections) {
    if (byName.has(section.name)) throw invalidModule(`Expected one ${section.name} section, found two`, section.start);
    byName.set(section.name, section);
  }
  return { bytes, code, codeEnd: code.inputs[code.length - 1] as number, byName, contents: new Map() };
}

/** A reader over the input's contents of a section. */
export function readDebugSection({ bytes, byName }: DebugSections, name: string): ByteReader | undefined {
  const section = byName.get(name);
  return section && contentReader(bytes, section);
}

/** The contents of a section that must exist. */
export function requireDebugSection(sections: DebugSections, name: string, referenceAt: number): ByteReader {
  const reader = readDebugSection(sections, name);
  if (reader === undefined) throw invalidModule(`Expected a section ${name} for a reference to it`, referenceAt);
  return reader;
}

/** The new contents of a section whose length stays the same, to be changed in place. */
export function patchedContents(sections: DebugSections, name: string): Uint8Array {
  const existing = sections.contents.get(name);
  if (existing !== undefined) return existing;
  const section = sections.byName.get(name) as Section;
  const copy = new Uint8Array(sections.bytes.subarray(section.contentStart, section.end));
  sections.contents.set(name, copy);
  return copy;
}
