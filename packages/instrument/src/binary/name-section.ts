import { InstrumentError, invalidModule } from '../errors.ts';
import { maxNameSubsections } from '../limits.ts';
import type { Note } from '../notes.ts';
import type { Module } from './module.ts';
import { type ByteReader, expectEnd, isUtf8, readByte, readCount, readerOver, readU32, skipBytes } from './reader.ts';
import type { Section } from './sections.ts';

/** Subsections whose keys are function indices. https://webassembly.github.io/spec/core/appendix/custom.html */
export const functionSubsection = 1;
export const localSubsection = 2;
export const labelSubsection = 3;

export interface Subsection {
  readonly id: number;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

/** The `name` section of the input, as far as it is well formed. */
export interface Names {
  readonly section: Section | undefined;
  /** Subsections other than that of function names, in their order. */
  readonly others: readonly Subsection[];
  /** Per function, where its name lies in the module; both 0 without one. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Reads the `name` section. What is malformed in it is legal: it is left out, and noted. */
export function readNames(module: Module, notes: Note[]): Names {
  const functionCount = module.functionTypes.length;
  const starts = new Uint32Array(functionCount);
  const ends = new Uint32Array(functionCount);
  const others: Subsection[] = [];
  const section = module.sections.find(({ id, name }) => id === 0 && name === 'name');
  if (section === undefined) return { section, others, starts, ends };
  const reader = readerOver(module.bytes, section.contentStart, section.end);
  let count = 0;
  tolerate(notes, 'the rest of it is left out', () => {
    while (reader.offset < section.end) {
      const subsection = readSubsection(reader);
      if (++count > maxNameSubsections) {
        throw invalidModule(`Expected at most ${maxNameSubsections} subsections, found more`, subsection.start);
      }
      const isOfFunctions = subsection.id === functionSubsection;
      const consequence = isOfFunctions ? 'the function names from there on are' : `subsection ${subsection.id} is`;
      tolerate(notes, `${consequence} left out`, () => {
        const contents = readerOver(module.bytes, subsection.contentStart, subsection.end);
        if (isOfFunctions) {
          const unusable = readFunctionNames(contents, starts, ends);
          if (unusable > 0) notes.push(unusableNamesNote(unusable, subsection.start));
        } else {
          if (subsection.id === localSubsection || subsection.id === labelSubsection)
            checkIndirectMap(contents, functionCount);
          others.push(subsection);
        }
      });
    }
  });
  return { section, others, starts, ends };
}

function tolerate(notes: Note[], consequence: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof InstrumentError) || error.offset === undefined) throw error;
    const message = `The name section is malformed, ${consequence}: ${error.message}`;
    notes.push({ code: 'section_malformed', message, section: 'name', offset: error.offset });
  }
}

function unusableNamesNote(count: number, offset: number): Note {
  const names = count === 1 ? 'a function name is' : `${count} function names are`;
  const message = `The name section is malformed, ${names} left out: not UTF-8, of a function that there is not, or a second one`;
  return { code: 'section_malformed', message, section: 'name', offset };
}

function readSubsection(reader: ByteReader): Subsection {
  const start = reader.offset;
  const id = readByte(reader, 'the id of a name subsection');
  const size = readCount(reader, 'the size of a name subsection');
  const contentStart = reader.offset;
  reader.offset += size;
  return { id, start, contentStart, end: reader.offset };
}

/**
 * Names before a fault are kept: they are as good as they were. Of two names of one function the first counts. Returns how
 * many names are of no use.
 */
function readFunctionNames(reader: ByteReader, starts: Uint32Array, ends: Uint32Array): number {
  const count = readCount(reader, 'the number of function names', 2);
  let unusable = 0;
  for (let entry = 0; entry < count; entry++) {
    const index = readU32(reader, 'a function index');
    const length = readU32(reader, "a function name's length");
    const start = reader.offset;
    skipBytes(reader, length, 'a function name');
    if (length === 0) continue;
    if (index >= starts.length || starts[index] !== 0 || !isUtf8(reader.bytes, start, reader.offset)) {
      unusable++;
      continue;
    }
    starts[index] = start;
    ends[index] = reader.offset;
  }
  return unusable;
}

function checkIndirectMap(reader: ByteReader, functionCount: number): void {
  const count = readCount(reader, 'the number of functions', 2);
  for (let entry = 0; entry < count; entry++) {
    const offset = reader.offset;
    const index = readU32(reader, 'a function index');
    if (index >= functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
    skipNameMap(reader);
  }
  expectEnd(reader, 'a name subsection');
}

export function skipNameMap(reader: ByteReader): void {
  const count = readCount(reader, 'the number of names', 2);
  for (let entry = 0; entry < count; entry++) {
    readU32(reader, 'an index');
    skipBytes(reader, readU32(reader, "a name's length"), 'a name');
  }
}

/** Per function, the place of its first export with a name, plus 1; 0 without one. */
export function findFirstExports(module: Module): Uint32Array {
  const places = new Uint32Array(module.functionTypes.length);
  module.exports.forEach(({ kind, index, nameStart, nameEnd }, place) => {
    if (kind === 'function' && places[index] === 0 && nameEnd > nameStart) places[index] = place + 1;
  });
  return places;
}

/** The made-up name of a function without a name and without an export. */
export function nameWithoutExport(module: Module, index: number): string {
  const entry = module.importedFunctions[index];
  return entry ? `${entry.module}.${entry.name}` : `func[${index}]`;
}
