import { type ByteReader, readByte, readerOver, readU64, skipBytes } from '../../binary/reader.ts';
import { type ByteWriter, createWriter, reserve, writeByte, writeRange } from '../../binary/writer.ts';
import { peekFixed, putFixed, readFixed } from '../../debug-info/numbers.ts';
import { readUnitLength } from '../../debug-info/units.ts';
import { invalidModule, unsupportedFeature } from '../../errors.ts';
import { addPoint, emptyOffsetMap, type OffsetMap, outputOffset, outputStart } from '../offset-map.ts';
import type { AddressTable, MovedAddress } from './addresses.ts';
import { type DebugSections, readDebugSection } from './debug-sections.ts';
import { type ListRequests, type RequestedList, requestedLists } from './list-requests.ts';

/** Kinds of entries in `.debug_rnglists`. Those in `.debug_loclists` are counted differently from 5 on. */
const Kind = {
  endOfList: 0,
  baseAddressx: 1,
  startxEndx: 2,
  startxLength: 3,
  offsetPair: 4,
  baseAddress: 5,
  startEnd: 6,
  startLength: 7,
  defaultLocation: 8,
} as const;
const { endOfList, baseAddressx, startxEndx, startxLength, offsetPair, baseAddress, startEnd, startLength } = Kind;
const { defaultLocation } = Kind;
const locationKinds = [0, 1, 2, 3, 4, defaultLocation, baseAddress, startEnd, startLength];

/** What a table of lists depends on. */
interface TableContext {
  readonly sections: DebugSections;
  readonly addresses: AddressTable;
  readonly isLocations: boolean;
  readonly addressSize: number;
}

/**
 * Rewrites the lists of DWARF 5. Their numbers have variable lengths, so lists move, and the offsets that each table begins
 * with follow. Returns where each list is, as a map of offsets in the section.
 */
export function rewriteListTables(
  sections: DebugSections,
  name: '.debug_rnglists' | '.debug_loclists',
  requests: ListRequests,
  addresses: AddressTable,
): OffsetMap | undefined {
  const reader = readDebugSection(sections, name);
  if (reader === undefined) {
    if (requests.numbers.length === 0) return undefined;
    throw invalidModule(`Expected a section ${name} for a reference to it`, 0);
  }
  const { bytes, offset: start } = reader;
  const writer = createWriter(reader.end - start + ((reader.end - start) >> 3) + 64);
  const moved = emptyOffsetMap(0, 0, 64);
  addPoint(moved, 0, 0);
  const requested = requestedLists(requests);
  let next = requested.next().value as RequestedList | undefined;
  while (reader.offset < reader.end) {
    const tableStart = reader.offset;
    const outputTable = writer.length;
    const { offsetSize, end } = readUnitLength(reader);
    const table = readerOver(bytes, reader.offset, end);
    const version = readFixed(table, 2, 'the version of a table');
    const addressSize = readByte(table, 'the size of an address');
    const segmentSize = readByte(table, 'the size of a segment');
    if (version !== 5 || (addressSize !== 4 && addressSize !== 8) || segmentSize !== 0) {
      throw unsupportedFeature(`DWARF ${version}`, `Found a table in ${name}`, tableStart);
    }
    const count = readFixed(table, 4, 'the number of offsets');
    const offsetsAt = table.offset;
    skipBytes(table, count * offsetSize, 'the offsets of a table');
    const context = { sections, addresses, isLocations: name === '.debug_loclists', addressSize };
    addPoint(moved, tableStart - start, writer.length);
    writeRange(writer, bytes, tableStart, table.offset);
    while (table.offset < end) {
      const offset = table.offset - start;
      addPoint(moved, offset, writer.length);
      const request = next?.offset === offset ? next : undefined;
      if (request !== undefined) next = requested.next().value as RequestedList | undefined;
      rewriteList(context, table, request, writer);
    }
    // The last point of a map stands at its end.
    addPoint(moved, end - start, writer.length, 0, true);
    const base = offsetsAt - start;
    const outputBase = outputTable + offsetsAt - tableStart;
    for (let index = 0; index < count; index++) {
      const old = peekFixed(bytes, offsetsAt + index * offsetSize, offsetSize);
      const target = base + old > end - start ? old : outputOffset(moved, base + old) - outputBase;
      putFixed(writer.bytes, outputBase + index * offsetSize, offsetSize, target);
    }
    const lengthEnd = outputTable + (offsetSize === 8 ? 12 : 4);
    putFixed(writer.bytes, lengthEnd - offsetSize, offsetSize, writer.length - lengthEnd);
    reader.offset = end;
  }
  if (next !== undefined) throw invalidModule(`Expected the start of a list in ${name}`, start + next.offset);
  sections.contents.set(name, writer.bytes.subarray(0, writer.length));
  return moved;
}

/** Copies a list, and moves its addresses if an entry refers to it; otherwise it means nothing. */
function rewriteList(
  { sections, addresses, isLocations, addressSize }: TableContext,
  reader: ByteReader,
  request: RequestedList | undefined,
  writer: ByteWriter,
): void {
  const { code, codeEnd, bytes } = sections;
  let base: MovedAddress = request?.unit ?? { input: 0, output: 0 };
  const moveStart = request?.isStart === true ? outputStart : outputOffset;
  const indexed = (index: number, isStart: boolean): MovedAddress => {
    if (request === undefined) return { input: Number.POSITIVE_INFINITY, output: 0 };
    return addresses(request.unit.addresses, index, isStart, reader.offset);
  };
  /** The length of the range in the output. */
  const movedLength = ({ input, output }: MovedAddress, length: number): number =>
    input + length <= codeEnd ? outputOffset(code, input + length) - output : length;

  for (;;) {
    const at = reader.offset;
    const coded = readByte(reader, 'the kind of a list entry');
    const kind = isLocations ? locationKinds[coded] : coded;
    if (kind === undefined || kind > (isLocations ? defaultLocation : startLength)) {
      throw unsupportedFeature('an unknown extension of DWARF', `Found a list entry of kind ${coded}`, at);
    }
    writeByte(writer, coded);
    switch (kind) {
      case endOfList:
        return;
      case baseAddressx: {
        base = indexed(readU64(reader, 'the index of an address'), true);
        writeRange(writer, bytes, at + 1, reader.offset);
        break;
      }
      case startxEndx: {
        indexed(readU64(reader, 'the index of an address'), request?.isStart === true);
        indexed(readU64(reader, 'the index of an address'), false);
        writeRange(writer, bytes, at + 1, reader.offset);
        break;
      }
      case startxLength: {
        const low = indexed(readU64(reader, 'the index of an address'), request?.isStart === true);
        writeRange(writer, bytes, at + 1, reader.offset);
        writeNumber(writer, movedLength(low, readU64(reader, 'the length of a range')), at);
        break;
      }
      case offsetPair: {
        const low = readU64(reader, 'the start of a range');
        const high = readU64(reader, 'the end of a range');
        const isLive = request !== undefined && base.input + Math.max(low, high) <= codeEnd;
        // The base stays the base, also if it is a prologue's.
        const newLow = !isLive || low === 0 ? low : moveStart(code, base.input + low) - base.output;
        writeNumber(writer, newLow, at);
        writeNumber(writer, isLive && high !== 0 ? movedLength(base, high) : high, at);
        break;
      }
      case baseAddress:
      case startEnd:
      case startLength: {
        const low = readFixed(reader, addressSize, 'an address');
        const move = kind === baseAddress ? outputStart : moveStart;
        const start = { input: low, output: request !== undefined && low <= codeEnd ? move(code, low) : low };
        writeAddress(writer, addressSize, start.output);
        if (kind === baseAddress) base = start;
        else if (kind === startLength) {
          const length = readU64(reader, 'the length of a range');
          writeNumber(writer, request === undefined ? length : movedLength(start, length), at);
        } else {
          const high = readFixed(reader, addressSize, 'an address');
          writeAddress(writer, addressSize, request !== undefined && high <= codeEnd ? outputOffset(code, high) : high);
        }
        break;
      }
    }
    if (isLocations && kind !== baseAddressx && kind !== baseAddress) {
      const locationAt = reader.offset;
      skipBytes(reader, readU64(reader, 'the length of a location'), 'a location');
      writeRange(writer, bytes, locationAt, reader.offset);
    }
  }
}

function writeAddress(writer: ByteWriter, size: number, value: number): void {
  reserve(writer, size);
  putFixed(writer.bytes, writer.length, size, value);
  writer.length += size;
}

/** Appends an unsigned LEB128 of up to 53 bits. */
function writeNumber(writer: ByteWriter, value: number, at: number): void {
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) throw invalidModule(`Expected a range behind its base`, at);
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) writeByte(writer, (rest % 0x80) + 0x80);
  writeByte(writer, rest);
}
