import { type ByteReader, readByte, skipBytes } from '../binary/reader.ts';

/** Reads a little-endian number of 1 to 8 bytes, rounded to a double. */
export function readFixed(reader: ByteReader, size: number, what: string): number {
  const at = reader.offset;
  skipBytes(reader, size, what);
  return peekFixed(reader.bytes, at, size);
}

/** The little-endian number of 1 to 8 bytes at an offset, rounded to a double. */
export function peekFixed(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let index = size - 1; index >= 0; index--) value = value * 256 + (bytes[at + index] as number);
  return value;
}

/** Writes a number as `size` little-endian bytes. */
export function putFixed(bytes: Uint8Array, at: number, size: number, value: number): void {
  let rest = value;
  for (let index = 0; index < size; index++) {
    bytes[at + index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

/** Reads a signed LEB128 of at most 64 bits, rounded to a double. */
export function readS64(reader: ByteReader, what: string): number {
  let value = 0;
  for (let index = 0; ; index++) {
    const byte = readByte(reader, what);
    // Padding behind 64 bits adds nothing.
    if (index < 10) value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return (byte & 0x40) !== 0 && index < 10 ? value - 2 ** (7 * (index + 1)) : value;
  }
}
