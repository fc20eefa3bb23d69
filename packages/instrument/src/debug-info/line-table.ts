import { type ByteReader, readByte, skipBytes } from '../binary/reader.ts';
import type { DwarfSections } from './dwarf-sections.ts';
import { type Compilation, type LineHeader, readLineHeader } from './line-header.ts';
import { readFixed } from './numbers.ts';
import { orUndefined } from './or-undefined.ts';
import { readSleb, readUleb, skipText } from './values.ts';

/** The rows of a unit's line program. Each row holds up to the next one's address, up to its sequence's end. */
export interface LineTable {
  readonly header: LineHeader;
  readonly address: Uint32Array;
  readonly file: Uint32Array;
  readonly line: Uint32Array;
  readonly column: Uint32Array;
  /** Runs of rows by ascending address. The last row of each is its end. */
  readonly sequences: readonly Sequence[];
}

interface Sequence {
  readonly firstRow: number;
  /** The index after its last row. */
  readonly endRow: number;
  readonly start: number;
  readonly end: number;
}

/** Reads the line program at an offset of `.debug_line`, up to the first malformed part. */
export function readLineTable(
  sections: DwarfSections,
  offset: number,
  compilation: Compilation,
): LineTable | undefined {
  return orUndefined(() => {
    const read = readLineHeader(sections, offset, compilation);
    if (read === undefined) return undefined;
    sections.spend(read.program.end - read.program.offset);
    return runProgram(read.header, read.program);
  });
}

const Opcode = {
  copy: 1,
  advancePc: 2,
  advanceLine: 3,
  setFile: 4,
  setColumn: 5,
  constAddPc: 8,
  fixedAdvancePc: 9,
} as const;

const Extended = { endSequence: 1, setAddress: 2, defineFile: 3 } as const;

/** Section 6.2 of the standard. */
function runProgram(header: LineHeader, reader: ByteReader): LineTable {
  const rows = createRows();
  const sequences: Sequence[] = [];
  const { opcodeBase, lineBase, lineRange, minInstructionLength, maxOperations } = header;
  let firstRow = 0;
  let address = 0;
  let operation = 0;
  let [file, line, column] = [1, 1, 0];
  const advance = (operations: number) => {
    const all = operation + operations;
    address += minInstructionLength * Math.floor(all / maxOperations);
    operation = all % maxOperations;
  };
  const reset = () => {
    firstRow = rows.count();
    [address, operation, file, line, column] = [0, 0, 1, 1, 0];
  };
  const runExtended = () => {
    const length = readUleb(reader);
    const start = reader.offset;
    if (length > 0) {
      const opcode = readByte(reader, 'an opcode');
      if (opcode === Extended.endSequence) {
        rows.add(address, file, line, column);
        const sequence = { firstRow, endRow: rows.count(), start: rows.addressAt(firstRow), end: address };
        // A linker sets the addresses of functions that it drops to 0 or to the largest ones.
        if (sequence.start > 0 && sequence.end > sequence.start && sequence.end < maxAddress) sequences.push(sequence);
        reset();
      } else if (opcode === Extended.setAddress) {
        address = readFixed(reader, length - 1 > 8 ? 8 : length - 1, 'an address');
        operation = 0;
      } else if (opcode === Extended.defineFile) {
        const nameAt = skipText(reader);
        header.defineFile(nameAt, readUleb(reader));
      }
    }
    reader.offset = start;
    skipBytes(reader, length, 'an operation of a line program');
  };
  orUndefined(() => {
    while (reader.offset < reader.end) {
      const opcode = readByte(reader, 'an opcode');
      if (opcode >= opcodeBase) {
        const adjusted = opcode - opcodeBase;
        advance(Math.floor(adjusted / lineRange));
        line += lineBase + (adjusted % lineRange);
        rows.add(address, file, line, column);
      } else if (opcode === 0) runExtended();
      else if (opcode === Opcode.copy) rows.add(address, file, line, column);
      else if (opcode === Opcode.advancePc) advance(readUleb(reader));
      else if (opcode === Opcode.advanceLine) line += readSleb(reader);
      else if (opcode === Opcode.setFile) file = readUleb(reader);
      else if (opcode === Opcode.setColumn) column = readUleb(reader);
      else if (opcode === Opcode.constAddPc) advance(Math.floor((255 - opcodeBase) / lineRange));
      else if (opcode === Opcode.fixedAdvancePc) {
        address += readFixed(reader, 2, 'an address');
        operation = 0;
      } else for (let count = header.operandCounts[opcode - 1] ?? 0; count > 0; count--) readUleb(reader);
    }
  });
  sequences.sort((a, b) => a.start - b.start || a.end - b.end);
  return { header, ...rows.columns(), sequences };
}

const maxAddress = 0xffff_fff0;

/** Columns that grow. */
function createRows() {
  let columns = new Uint32Array(4 * 256);
  let count = 0;
  return {
    count: () => count,
    addressAt: (row: number) => columns[4 * row] as number,
    add(address: number, file: number, line: number, column: number) {
      if (4 * count === columns.length) {
        const larger = new Uint32Array(2 * columns.length);
        larger.set(columns);
        columns = larger;
      }
      columns[4 * count] = Math.min(address, 0xffff_ffff);
      columns[4 * count + 1] = file;
      columns[4 * count + 2] = line;
      columns[4 * count + 3] = column;
      count++;
    },
    columns() {
      const column = (at: number) => {
        const values = new Uint32Array(count);
        for (let row = 0; row < count; row++) values[row] = columns[4 * row + at] as number;
        return values;
      };
      return { address: column(0), file: column(1), line: column(2), column: column(3) };
    },
  };
}

/** The row of an address; -1 without one. */
export function findRow(table: LineTable, address: number): number {
  let low = 0;
  let high = table.sequences.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((table.sequences[middle] as Sequence).start <= address) low = middle + 1;
    else high = middle;
  }
  const sequence = table.sequences[low - 1];
  if (sequence === undefined || address >= sequence.end) return -1;
  return lastRowUpTo(table, sequence, address);
}

function lastRowUpTo({ address }: LineTable, { firstRow, endRow }: Sequence, wanted: number): number {
  let low = firstRow;
  let high = endRow - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((address[middle] as number) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1 < firstRow ? -1 : low - 1;
}

/** Calls `onRow` for each row with instructions between two addresses, by ascending address. */
export function visitRows(
  table: LineTable,
  start: number,
  end: number,
  onRow: (row: number, from: number, to: number) => void,
): void {
  for (const sequence of table.sequences) {
    if (sequence.end <= start) continue;
    if (sequence.start >= end) return;
    const first = Math.max(lastRowUpTo(table, sequence, start), sequence.firstRow);
    for (let row = first; row < sequence.endRow - 1; row++) {
      const from = Math.max(table.address[row] as number, start);
      const to = Math.min(table.address[row + 1] as number, end);
      if (from >= end) break;
      if (from < to) onRow(row, from, to);
    }
  }
}
