import { readByte } from '../../binary/reader.ts';
import { peekFixed, putFixed, readFixed } from '../../debug-info/numbers.ts';
import { readUnitLength } from '../../debug-info/units.ts';
import { invalidModule, tooComplex, unsupportedFeature } from '../../errors.ts';
import { outputOffset, outputStart } from '../offset-map.ts';
import { type DebugSections, patchedContents, readDebugSection } from './debug-sections.ts';

/** An address of the input, and the one that replaces it. */
export interface MovedAddress {
  readonly input: number;
  readonly output: number;
}

/**
 * The table `.debug_addr`. It contains addresses of code and of data, which only their uses distinguish: an entry moves when
 * a use as code is found.
 */
export type AddressTable = (base: number, index: number, isStart: boolean, usedAt: number) => MovedAddress;

const maxTables = 1_000_000;

export function createAddressTable(sections: DebugSections): AddressTable {
  const reader = readDebugSection(sections, '.debug_addr');
  if (reader === undefined) {
    return (_base, _index, _isStart, usedAt) => {
      throw invalidModule('Expected a section .debug_addr for an index into it', usedAt);
    };
  }
  const { bytes, offset: start } = reader;
  /** By the offset of the first entry. */
  const tables = new Map<number, { readonly end: number; readonly addressSize: number }>();
  while (reader.offset < reader.end) {
    const at = reader.offset;
    const { end } = readUnitLength(reader);
    const header = { bytes, offset: reader.offset, end };
    const version = readFixed(header, 2, 'the version of an address table');
    const addressSize = readByte(header, 'the size of an address');
    const segmentSize = readByte(header, 'the size of a segment');
    if (version !== 5 || (addressSize !== 4 && addressSize !== 8) || segmentSize !== 0) {
      throw unsupportedFeature(`DWARF ${version}`, 'Found an address table', at);
    }
    tables.set(header.offset - start, { end: end - start, addressSize });
    if (tables.size > maxTables) throw tooComplex('address tables', tables.size, maxTables, at);
    reader.offset = end;
  }
  const moved = new Uint8Array(reader.end - start);
  const output = patchedContents(sections, '.debug_addr');
  return (base, index, isStart, usedAt) => {
    const table = tables.get(base);
    const { end = 0, addressSize = 4 } = table ?? {};
    const at = base + index * addressSize;
    if (table === undefined || at + addressSize > end) {
      throw invalidModule(`Expected the index of an address, found ${index}`, usedAt);
    }
    const input = peekFixed(bytes, start + at, addressSize);
    if (moved[at] === 0) {
      moved[at] = 1;
      if (input <= sections.codeEnd) {
        putFixed(output, at, addressSize, (isStart ? outputStart : outputOffset)(sections.code, input));
      }
    }
    return { input, output: peekFixed(output, at, addressSize) };
  };
}

/** Moves the ranges in `.debug_aranges`, which lists the code of each unit. */
export function rewriteAddressRanges(sections: DebugSections): void {
  const reader = readDebugSection(sections, '.debug_aranges');
  if (reader === undefined) return;
  const { bytes, offset: start } = reader;
  const output = patchedContents(sections, '.debug_aranges');
  while (reader.offset < reader.end) {
    const at = reader.offset;
    const { offsetSize, end } = readUnitLength(reader);
    const set = { bytes, offset: reader.offset, end };
    const version = readFixed(set, 2, 'the version of a set of ranges');
    readFixed(set, offsetSize, 'the offset of a unit');
    const addressSize = readByte(set, 'the size of an address');
    const segmentSize = readByte(set, 'the size of a segment');
    if (version !== 2 || (addressSize !== 4 && addressSize !== 8) || segmentSize !== 0) {
      throw unsupportedFeature(`version ${version} of .debug_aranges`, 'Found a set of ranges', at);
    }
    // Tuples are aligned to their size.
    let tuple = at + Math.ceil((set.offset - at) / (2 * addressSize)) * 2 * addressSize;
    for (; tuple + 2 * addressSize <= end; tuple += 2 * addressSize) {
      const low = peekFixed(bytes, tuple, addressSize);
      const length = peekFixed(bytes, tuple + addressSize, addressSize);
      if (low + length > sections.codeEnd) continue;
      const movedLow = outputStart(sections.code, low);
      putFixed(output, tuple - start, addressSize, movedLow);
      putFixed(output, tuple - start + addressSize, addressSize, outputOffset(sections.code, low + length) - movedLow);
    }
    reader.offset = end;
  }
}
