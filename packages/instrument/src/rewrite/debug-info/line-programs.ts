import { type ByteReader, readByte, readerOver, readU64, skipBytes } from '../../binary/reader.ts';
import { type ByteWriter, createWriter, putU32, reserve, writeRange } from '../../binary/writer.ts';
import { peekFixed, putFixed, readFixed } from '../../debug-info/numbers.ts';
import { readUnitLength } from '../../debug-info/units.ts';
import { invalidModule, unsupportedFeature } from '../../errors.ts';
import { addPoint, emptyOffsetMap, type OffsetMap, outputOffset, outputStart } from '../offset-map.ts';
import { type DebugSections, readDebugSection } from './debug-sections.ts';

const copy = 1;
const advancePc = 2;
const constAddPc = 8;
const fixedAdvancePc = 9;
const endSequence = 1;
const setAddress = 2;

/** The operands of the standard opcodes from 1 to 12. */
const operandCounts = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/** The most bytes that one opcode with short operands becomes. */
const maxOpcodeBytes = 64;

/** The header fields that decide how a program is coded. */
interface LineFormat {
  readonly lineRange: number;
  readonly opcodeBase: number;
  /** The number of operands of each standard opcode, from opcode 1. */
  readonly operandCounts: Uint8Array;
}

/**
 * Rewrites the line number programs: each row's address moves, everything else stays. Headers and file tables are copied.
 * Returns where each program begins, as a map of offsets in the section.
 */
export function rewriteLinePrograms(sections: DebugSections): OffsetMap | undefined {
  const reader = readDebugSection(sections, '.debug_line');
  if (reader === undefined) return undefined;
  const { bytes } = reader;
  const start = reader.offset;
  const size = reader.end - start;
  const writer = createWriter(size + (size >> 3) + maxOpcodeBytes);
  const moved = emptyOffsetMap(0, 0, 64);
  addPoint(moved, 0, 0);
  while (reader.offset < reader.end) {
    addPoint(moved, reader.offset - start, writer.length);
    const unitStart = reader.offset;
    const outputStartOfUnit = writer.length;
    const { offsetSize, end } = readUnitLength(reader);
    const unit = readerOver(bytes, reader.offset, end);
    const format = readLineFormat(unit, offsetSize);
    writeRange(writer, bytes, unitStart, unit.offset);
    rewriteProgram(sections, unit, format, writer);
    const lengthBytes = offsetSize === 8 ? 12 : 4;
    const outputSize = writer.length - outputStartOfUnit - lengthBytes;
    putFixed(writer.bytes, outputStartOfUnit + lengthBytes - offsetSize, offsetSize, outputSize);
    reader.offset = end;
  }
  addPoint(moved, size, writer.length, 0, true);
  sections.contents.set('.debug_line', writer.bytes.subarray(0, writer.length));
  return moved;
}

/** Reads a header, and moves the reader to the program. */
function readLineFormat(unit: ByteReader, offsetSize: number): LineFormat {
  const versionAt = unit.offset;
  const version = readFixed(unit, 2, 'the version of a line table');
  if (version < 2 || version > 5) {
    throw unsupportedFeature(`DWARF ${version}`, `Found a line table of version ${version}`, versionAt);
  }
  if (version === 5) skipBytes(unit, 2, 'the size of an address');
  const headerLength = readFixed(unit, offsetSize, 'the length of a header');
  const headerStart = unit.offset;
  skipBytes(unit, headerLength, 'a header');
  const header = readerOver(unit.bytes, headerStart, unit.offset);
  const instructionLength = readByte(header, 'the length of an instruction');
  const perInstruction = version >= 4 ? readByte(header, 'the operations of an instruction') : 1;
  if (instructionLength !== 1 || perInstruction > 1) {
    throw unsupportedFeature('instructions of another length than 1', 'Found a line table', headerStart);
  }
  readByte(header, 'whether rows are statements');
  readByte(header, 'the line base');
  const lineRange = readByte(header, 'the line range');
  const opcodeBase = readByte(header, 'the opcode base');
  if (lineRange === 0 || opcodeBase < 10) {
    throw invalidModule(`Expected a line range and an opcode base of at least 10, found ${opcodeBase}`, headerStart);
  }
  const countsAt = header.offset;
  skipBytes(header, opcodeBase - 1, 'the operands of opcodes');
  const counts = unit.bytes.subarray(countsAt, header.offset);
  if (operandCounts.some((count, index) => index < counts.length && counts[index] !== count)) {
    throw unsupportedFeature('standard opcodes with other operands', 'Found a line table', countsAt);
  }
  return { lineRange, opcodeBase, operandCounts: counts };
}

/**
 * Copies a program. The advances of the address between two rows are added up, and written before the second row by the
 * distance in the output.
 */
function rewriteProgram(
  { code, codeEnd }: DebugSections,
  unit: ByteReader,
  { lineRange, opcodeBase, operandCounts: counts }: LineFormat,
  writer: ByteWriter,
): void {
  const { bytes, end } = unit;
  const constAdvance = Math.floor((255 - opcodeBase) / lineRange);
  let addressSize = 4;
  /** The address register of the input, and the one that the output's program has at this point. */
  let address = 0;
  let outputAddress = 0;
  /** The last address set, and the output address for it: in a function's first row the prologue's. */
  let setInput = 0;
  let setOutput = 0;
  /** Whether the address lies in the code. Otherwise the code was removed by a linker, and all opcodes are copied. */
  let isLive = true;

  /** The distance to the output address of the next row. A negative one is replaced by setting the address. */
  const takeAdvance = (): number => {
    const target = address === setInput ? setOutput : outputOffset(code, address);
    const distance = target - outputAddress;
    outputAddress = target;
    if (distance >= 0 && distance <= 0xffff_ffff) return distance;
    const out = writer.bytes;
    out[writer.length++] = 0;
    out[writer.length++] = addressSize + 1;
    out[writer.length++] = setAddress;
    putFixed(out, writer.length, addressSize, target);
    writer.length += addressSize;
    return 0;
  };
  const putAdvance = (distance: number): void => {
    if (distance === 0) return;
    if (distance === constAdvance) writer.bytes[writer.length++] = constAddPc;
    else {
      writer.bytes[writer.length++] = advancePc;
      writer.length = putU32(writer.bytes, writer.length, distance);
    }
  };
  const advanceBy = (distance: number): void => {
    address += distance;
    if (address > Number.MAX_SAFE_INTEGER) throw invalidModule('Expected an address of at most 53 bits', unit.offset);
  };

  while (unit.offset < end) {
    if (writer.length + maxOpcodeBytes > writer.bytes.length) reserve(writer, maxOpcodeBytes);
    const at = unit.offset++;
    const opcode = bytes[at] as number;
    if (opcode >= opcodeBase) {
      const steps = opcode - opcodeBase;
      const own = Math.floor(steps / lineRange);
      if (!isLive) {
        writer.bytes[writer.length++] = opcode;
        continue;
      }
      advanceBy(own);
      const distance = takeAdvance();
      // The same change of the line without an advance.
      const still = opcode - own * lineRange;
      const room = Math.floor((255 - still) / lineRange);
      if (distance <= room) writer.bytes[writer.length++] = still + distance * lineRange;
      else if (distance >= constAdvance && distance - constAdvance <= room) {
        writer.bytes[writer.length++] = constAddPc;
        writer.bytes[writer.length++] = still + (distance - constAdvance) * lineRange;
      } else {
        putAdvance(distance);
        writer.bytes[writer.length++] = still;
      }
    } else if (opcode === 0) {
      const length = readU64(unit, 'the length of an opcode');
      const content = unit.offset;
      if (length === 0) throw invalidModule('Expected an extended opcode, found none', at);
      skipBytes(unit, length, 'an extended opcode');
      const extended = bytes[content] as number;
      if (extended === setAddress) {
        addressSize = length - 1;
        if (addressSize < 1 || addressSize > 8) throw invalidModule(`Expected an address, found ${length} bytes`, at);
        address = peekFixed(bytes, content + 1, addressSize);
        isLive = address <= codeEnd;
        setInput = address;
        setOutput = isLive ? outputStart(code, address) : address;
        outputAddress = setOutput;
        writeRange(writer, bytes, at, unit.offset);
        if (isLive) putFixed(writer.bytes, writer.length - addressSize, addressSize, setOutput);
        continue;
      }
      if (isLive && extended === endSequence) putAdvance(takeAdvance());
      writeRange(writer, bytes, at, unit.offset);
      if (extended !== endSequence) continue;
      address = 0;
      outputAddress = 0;
      setInput = 0;
      setOutput = 0;
      isLive = true;
    } else {
      let advance = -1;
      if (opcode === advancePc) advance = readU64(unit, 'an advance');
      else if (opcode === fixedAdvancePc) advance = readFixed(unit, 2, 'an advance');
      else if (opcode === constAddPc) advance = constAdvance;
      else for (let operand = counts[opcode - 1] as number; operand > 0; operand--) readU64(unit, 'an operand');
      if (isLive && advance >= 0) advanceBy(advance);
      else {
        if (isLive && opcode === copy) putAdvance(takeAdvance());
        writeRange(writer, bytes, at, unit.offset);
      }
    }
  }
}
