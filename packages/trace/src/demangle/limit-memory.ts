import { readU32 } from '../name-section.ts';

const memorySectionId = 5;
const headerBytes = 8;

/**
 * Gives the one memory that a module defines a maximum, so that untrusted input makes `memory.grow` fail before the module
 * takes a gigabyte.
 *
 * @param bytes a valid core module that defines exactly one 32-bit memory
 * @param maxPages the maximum to declare, in pages of 64 KiB; one that the module declares itself is replaced
 * @returns the module with a new memory section: https://webassembly.github.io/spec/core/binary/modules.html#memory-section
 * @throws RangeError where there is no such memory, or it begins with more
 */
export function limitMemory(bytes: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  let position = headerBytes;
  while (position < bytes.length) {
    const id = bytes[position] ?? 0;
    const size = readUnsigned(bytes, position + 1);
    const end = size.next + size.value;
    if (id === memorySectionId) return withSection(bytes, position, end, memorySection(bytes, size.next, maxPages));
    position = end;
  }
  throw new RangeError('Cannot limit the memory of a module that defines none');
}

function memorySection(bytes: Uint8Array, start: number, maxPages: number): readonly number[] {
  const count = readUnsigned(bytes, start);
  const flags = bytes[count.next] ?? 0;
  if (count.value !== 1 || flags > 1) {
    throw new RangeError('Cannot limit the memory of a module that defines another than one 32-bit memory');
  }
  const minimum = readUnsigned(bytes, count.next + 1).value;
  if (minimum > maxPages) {
    throw new RangeError(`Cannot limit a memory to ${maxPages} pages that begins with ${minimum}`);
  }
  const content = [1, 1, ...unsigned(minimum), ...unsigned(maxPages)];
  return [memorySectionId, ...unsigned(content.length), ...content];
}

function withSection(bytes: Uint8Array, start: number, end: number, section: readonly number[]) {
  const result = new Uint8Array(bytes.length - (end - start) + section.length);
  result.set(bytes.subarray(0, start));
  result.set(section, start);
  result.set(bytes.subarray(end), start + section.length);
  return result;
}

function readUnsigned(bytes: Uint8Array, start: number): { readonly value: number; readonly next: number } {
  const read = readU32(bytes, start);
  if (read !== undefined) return read;
  throw new RangeError(`Expected an unsigned LEB128 number of 32 bits (at offset 0x${start.toString(16)})`);
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}
