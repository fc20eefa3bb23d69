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

/** The well-formed part of the input's `name` section. */
export interface Names {
  readonly section: Section | undefined;
  /** Subsections other than function names, in order. */
  readonly others: readonly Subsection[];
  /** Per function, the bounds of its name in the module; both 0 without a name. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Reads the `name` section. A malformed one is legal, so its malformed parts are dropped and noted. */
export function readNames(module: Module, notes: Note[]): Names {
  const functionCount = module.functionTypes.length;
  const starts = new Uint32Array(functionCount);
  const ends = new Uint32Array(functionCount);
  const others: Subsection[] = [];
  const section = module.sections.find(({ id, name }) => id === 0 && name === 'name');
  if (section === undefined) return { section, others, starts, ends };
  const reader = readerOver(module.bytes, section.contentStart, section.end);
  let count = 0;
  tolerate(notes, 'the rest of it is dropped', () => {
    while (reader.offset < section.end) {
      const subsection = readSubsection(reader);
      if (++count > maxNameSubsections) {
        throw invalidModule(`Expected at most ${maxNameSubsections} subsections, found more`, subsection.start);
      }
      const isOfFunctions = subsection.id === functionSubsection;
      const consequence = isOfFunctions ? 'the function names from there on are' : `subsection ${subsection.id} is`;
      tolerate(notes, `${consequence} dropped`, () => {
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
  const message = `The name section is malformed, ${names} dropped: not UTF-8, of an unknown function, or a second name of one function`;
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
 * Keeps the names before a fault. The first of two names of one function counts. Returns the number of unusable names.
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

/** Per function, 1 plus the position of its first export with a name; 0 without one. */
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
