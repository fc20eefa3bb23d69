import { type ByteReader, readByte, readerOver } from '../binary/reader.ts';
import type { DwarfSections } from './dwarf-sections.ts';
import { AttributeForm, type UnitFormat } from './forms.ts';
import { readFixed } from './numbers.ts';
import { orUndefined } from './or-undefined.ts';
import { readUnitLength } from './units.ts';
import { readForm, readUleb, skipText } from './values.ts';

/** The header of a line program: how its opcodes count, and its files. */
export interface LineHeader {
  readonly version: number;
  readonly minInstructionLength: number;
  readonly maxOperations: number;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  /** The number of operands of each standard opcode. */
  readonly operandCounts: readonly number[];
  /** The path of a file by its number in rows and attributes. */
  readonly fileName: (file: number) => string | undefined;
  /** How many files there are, and the number of the first one. */
  readonly firstFile: number;
  readonly fileCount: () => number;
  /** Adds a file: the offset of its name in the module, and the number of its folder. */
  readonly defineFile: (nameAt: number, folder: number) => void;
}

/** What a line table depends on in its unit. */
export interface Compilation {
  /** `DW_AT_comp_dir` */
  readonly folder: string;
  readonly addressSize: number;
}

/** A text by its form, which is read when needed. */
interface Text {
  readonly form: number;
  readonly value: number;
}

interface File {
  readonly name: Text;
  readonly folder: number;
}

/** Reads the header at an offset of `.debug_line`, and returns a reader of the program too. Sections 6.2.4 of versions 2 to 5. */
export function readLineHeader(
  sections: DwarfSections,
  offset: number,
  { folder, addressSize }: Compilation,
): { readonly header: LineHeader; readonly program: ByteReader } | undefined {
  const whole = sections.readerAt('.debug_line', offset);
  const { end, offsetSize } = readUnitLength(whole);
  const reader = readerOver(whole.bytes, whole.offset, end);
  const version = readFixed(reader, 2, 'the version of a line table');
  if (version < 2 || version > 5) return undefined;
  const sizes = version < 5 ? { addressSize } : { addressSize: readByte(reader, 'the size of an address') };
  if (version >= 5) readByte(reader, 'the size of a segment selector');
  const format: UnitFormat = { version, offsetSize, ...sizes };
  const headerLength = readFixed(reader, offsetSize, 'the length of a header');
  const programStart = reader.offset + headerLength;
  if (programStart > end) return undefined;
  sections.spend(headerLength);
  const minInstructionLength = readByte(reader, 'the length of an instruction');
  const maxOperations = version >= 4 ? readByte(reader, 'the number of operations') || 1 : 1;
  readByte(reader, 'whether lines are statements');
  const lineBase = (readByte(reader, 'the base of lines') << 24) >> 24;
  const lineRange = readByte(reader, 'the range of lines') || 1;
  const opcodeBase = readByte(reader, 'the first special opcode');
  const operandCounts = Array.from({ length: Math.max(0, opcodeBase - 1) }, () => readByte(reader, 'a count'));
  const tables = readerOver(reader.bytes, reader.offset, programStart);
  const { folders, files } = version >= 5 ? readTables(tables, format) : readOlderTables(tables);
  const firstFile = version >= 5 ? 0 : 1;
  const names = new Map<number, string>();
  const textOf = ({ form, value }: Text): string => {
    if (form === AttributeForm.string) return sections.textIn(value);
    return sections.textAt(form === AttributeForm.lineStrp ? '.debug_line_str' : '.debug_str', value);
  };
  const pathOf = (file: File): string => {
    // Before version 5, folder 0 is the compilation's. Later, it is the first of the table, which says the same.
    const at = version >= 5 ? file.folder : file.folder - 1;
    const inTable = folders[at];
    return joinPaths(folder, inTable === undefined ? '' : textOf(inTable), textOf(file.name));
  };
  const header: LineHeader = {
    ...{ version, minInstructionLength, maxOperations, lineBase, lineRange, opcodeBase, operandCounts, firstFile },
    fileCount: () => files.length,
    fileName(file) {
      const known = names.get(file);
      if (known !== undefined) return known;
      const entry = files[file - firstFile];
      if (entry === undefined) return undefined;
      const path = orUndefined(() => pathOf(entry)) ?? '(unknown)';
      names.set(file, path);
      return path;
    },
    defineFile: (nameAt, inFolder) =>
      void files.push({ name: { form: AttributeForm.string, value: nameAt }, folder: inFolder }),
  };
  return { header, program: readerOver(reader.bytes, programStart, end) };
}

/** Joins paths of which each may be absolute, as of POSIX or Windows. */
export function joinPaths(...paths: readonly string[]): string {
  let joined = '';
  for (const path of paths) {
    if (path === '') continue;
    joined = joined === '' || /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path) ? path : `${joined.replace(/[/\\]$/, '')}/${path}`;
  }
  return joined;
}

interface Tables {
  readonly folders: readonly Text[];
  readonly files: File[];
}

function readOlderTables(reader: ByteReader): Tables {
  const folders: Text[] = [];
  const files: File[] = [];
  while (reader.bytes[reader.offset] !== 0) folders.push({ form: AttributeForm.string, value: skipText(reader) });
  readByte(reader, 'the end of the folders');
  while (reader.bytes[reader.offset] !== 0) {
    const name = { form: AttributeForm.string, value: skipText(reader) };
    files.push({ name, folder: readUleb(reader) });
    readUleb(reader); // time of change
    readUleb(reader); // size
  }
  return { folders, files };
}

/** `DW_LNCT_*` */
const Content = { path: 1, folder: 2 } as const;

function readTables(reader: ByteReader, format: UnitFormat): Tables {
  const folders = readEntries(reader, format).map(({ name }) => name);
  return { folders, files: readEntries(reader, format) };
}

function readEntries(reader: ByteReader, format: UnitFormat): File[] {
  const formatCount = readByte(reader, 'the number of formats');
  const formats = Array.from({ length: formatCount }, () => ({ content: readUleb(reader), form: readUleb(reader) }));
  const count = readUleb(reader);
  const files: File[] = [];
  // Without formats, entries take no bytes, so the count means nothing.
  for (let index = 0; index < count && formatCount > 0; index++) {
    const start = reader.offset;
    let name: Text | undefined;
    let folder = 0;
    for (const { content, form } of formats) {
      const value = readForm(reader, form, format);
      if (content === Content.path) name = { form, value };
      else if (content === Content.folder) folder = value;
    }
    if (name === undefined || reader.offset === start) break;
    files.push({ name, folder });
  }
  return files;
}
