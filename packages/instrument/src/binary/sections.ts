import { InstrumentError, invalidModule, tooComplex, unsupportedFeature } from '../errors.ts';
import { maxSections } from '../limits.ts';
import { kindOf } from '../select/config.ts';
import { type ByteReader, readByte, readCount, readerOver, readName } from './reader.ts';

/** Section ids. https://webassembly.github.io/spec/core/binary/modules.html#sections */
export const SectionId = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/** Section ids in the order that the specification requires. */
export const sectionOrder: readonly number[] = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

const sectionNames: readonly string[] = [
  'custom',
  'type',
  'import',
  'function',
  'table',
  'memory',
  'global',
  'export',
  'start',
  'element',
  'code',
  'data',
  'data count',
  'tag',
];

export interface Section {
  readonly id: number;
  /** For a custom section its name, else what the specification calls the section. */
  readonly name: string;
  /** Offset of the id byte. */
  readonly start: number;
  /** First byte of the contents; for a custom section, after its name. */
  readonly contentStart: number;
  readonly end: number;
}

/** Reads the preamble and the bounds of every section, and checks their order. The contents are not looked at. */
export function readSections(bytes: Uint8Array): Section[] {
  checkIsBytes(bytes);
  checkPreamble(bytes);
  const reader = readerOver(bytes, 8);
  const sections: Section[] = [];
  let place = -1;
  while (reader.offset < bytes.length) {
    const start = reader.offset;
    const section = readSection(bytes, start);
    if (section.id !== SectionId.custom) {
      const ownPlace = sectionOrder.indexOf(section.id);
      if (ownPlace <= place) throw outOfOrder(section, sectionOrder[place] as number);
      place = ownPlace;
    }
    sections.push(section);
    if (sections.length > maxSections) throw tooComplex('sections', sections.length, maxSections, start);
    reader.offset = section.end;
  }
  return sections;
}

/** The section with that id, of which the order check allows one. */
export function findSection(sections: readonly Section[], id: number): Section | undefined {
  return sections.find((section) => section.id === id);
}

/** A reader of the contents of the section with that id, if the module has it. */
export function sectionReader(bytes: Uint8Array, sections: readonly Section[], id: number): ByteReader | undefined {
  const section = findSection(sections, id);
  return section && contentReader(bytes, section);
}

/** A reader of a section's contents; of a custom section's, after its name. */
export function contentReader(bytes: Uint8Array, { contentStart, end }: Section): ByteReader {
  return readerOver(bytes, contentStart, end);
}

function readSection(bytes: Uint8Array, start: number): Section {
  const reader = readerOver(bytes, start);
  const id = readByte(reader, 'a section id');
  const name = sectionNames[id];
  if (name === undefined) {
    if (id === 14) throw unsupportedFeature('the string reference proposal', 'Found a string section', start);
    throw invalidModule(`Expected a section id from 0 to 13, found ${id}`, start);
  }
  const size = readCount(reader, `the size of the ${name} section`);
  const end = reader.offset + size;
  if (id !== SectionId.custom) return { id, name, start, contentStart: reader.offset, end };
  const custom = readerOver(bytes, reader.offset, end);
  const customName = readName(custom, "a custom section's name");
  return { id, name: customName, start, contentStart: custom.offset, end };
}

function outOfOrder(section: Section, afterId: number): InstrumentError {
  const after = sectionNames[afterId];
  const found =
    section.id === afterId
      ? `a second ${section.name} section`
      : `a ${section.name} section after the ${after} section`;
  return invalidModule(`Expected each section once and in order, found ${found}`, section.start);
}

/** A caller without types may hand in anything. Node's Buffer, and an array of another realm, are Uint8Arrays too. */
function checkIsBytes(bytes: unknown): void {
  const tag = Object.prototype.toString.call(bytes).slice(8, -1);
  if (ArrayBuffer.isView(bytes) && tag === 'Uint8Array') return;
  throw new InstrumentError(
    'not_wasm',
    `Expected the bytes of a module as a Uint8Array, found ${typeof bytes === 'object' && bytes !== null ? tag : kindOf(bytes)}`,
  );
}

/** https://webassembly.github.io/spec/core/binary/modules.html#binary-module */
function checkPreamble(bytes: Uint8Array): void {
  const magic = [0x00, 0x61, 0x73, 0x6d];
  const differs = magic.findIndex((byte, index) => bytes[index] !== byte);
  if (differs !== -1) {
    const found = bytes.length <= differs ? `${bytes.length} bytes` : hex(bytes.subarray(0, 4));
    const message = `Expected a WebAssembly module, which begins with 00 61 73 6d, found ${found}`;
    throw new InstrumentError('not_wasm', message, { offset: Math.min(differs, bytes.length) });
  }
  if (bytes.length < 8) {
    throw invalidModule(`Expected a version of 4 bytes, found ${bytes.length - 4}`, bytes.length);
  }
  const version = (bytes[4] as number) | ((bytes[5] as number) << 8);
  const layer = (bytes[6] as number) | ((bytes[7] as number) << 8);
  if (layer === 1) {
    throw new InstrumentError(
      'component_not_supported',
      'Expected a core module, found a component: take the core module out with `wasm-tools component unbundle`, or instrument it ' +
        'before `wasm-tools component new` wraps it, in a world that has `import dylibso:observe/instrument` (an interface of ' +
        '`enter`, `exit` and `memory-grow`, each `func(value: u32)`)',
      { offset: 4 },
    );
  }
  if (version !== 1 || layer !== 0) {
    throw invalidModule(`Expected version 1 of the binary format, found ${hex(bytes.subarray(4, 8))}`, 4);
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
