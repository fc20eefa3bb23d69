import { type ByteReader, readerOver } from '../binary/reader.ts';
import { readSections } from '../binary/sections.ts';
import { type InstrumentError, invalidModule, tooComplex } from '../errors.ts';
import { peekFixed } from './numbers.ts';
import { peekText } from './values.ts';

/** The DWARF sections of a module. */
export interface DwarfSections {
  /** A reader at an offset of a section, such as `.debug_line`. Throws beyond its end. */
  readonly readerAt: (name: string, offset: number) => ByteReader;
  /** The text at an offset of a section. */
  readonly textAt: (name: string, offset: number) => string;
  /** The text at an offset in the module. */
  readonly textIn: (offset: number) => string;
  /** The number at an offset of a section. */
  readonly numberAt: (name: string, offset: number, size: number) => number;
  readonly has: (name: string) => boolean;
  /**
   * Counts work. Throws once it exceeds a multiple of the module's size, which only debug information does that refers to the
   * same parts again and again.
   */
  readonly spend: (steps: number) => void;
}

export function readDwarfSections(bytes: Uint8Array): DwarfSections {
  const byName = new Map(readSections(bytes).flatMap((section) => (section.id === 0 ? [[section.name, section]] : [])));
  const readerAt = (name: string, offset: number): ByteReader => {
    const section = byName.get(name);
    if (section === undefined || !(offset >= 0 && offset <= section.end - section.contentStart)) {
      throw invalidModule(`Expected the offset ${offset} in the section ${name}, found its end`, section?.end ?? 0);
    }
    return readerOver(bytes, section.contentStart + offset, section.end);
  };
  const maxSteps = 1_000_000 + 4 * bytes.length;
  let steps = 0;
  let exhausted: InstrumentError | undefined;
  const spend = (count: number): void => {
    steps += count;
    if (steps <= maxSteps) return;
    // Making an error takes long, and every further part throws it.
    exhausted ??= tooComplex('steps of reading debug information', steps, maxSteps, 0);
    throw exhausted;
  };
  /** Many entries may have the same long text, which is kept for each. */
  const read = (reader: ByteReader): string => {
    const text = peekText(reader);
    spend(text.length / 16);
    return text;
  };
  return {
    spend,
    readerAt,
    textAt: (name, offset) => read(readerAt(name, offset)),
    textIn: (offset) => read(readerOver(bytes, offset)),
    has: (name) => byName.has(name),
    numberAt(name, offset, size) {
      const reader = readerAt(name, offset);
      if (reader.end - reader.offset < size) throw invalidModule(`Expected ${size} bytes of ${name}`, reader.offset);
      return peekFixed(bytes, reader.offset, size);
    },
  };
}
