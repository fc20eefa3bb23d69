import { invalidModule } from '../errors.ts';

// ignoreBOM: a name may begin with U+FEFF.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A position in the module. `offset` counts from the module's first byte, so every error can name it. */
export interface ByteReader {
  readonly bytes: Uint8Array;
  offset: number;
  /** The offset after the last byte to read. */
  readonly end: number;
}

export function readerOver(bytes: Uint8Array, offset = 0, end: number = bytes.length): ByteReader {
  return { bytes, offset, end };
}

export function readByte(reader: ByteReader, what: string): number {
  if (reader.offset >= reader.end) throw endsEarly(reader, what);
  return reader.bytes[reader.offset++] as number;
}

/** Reads an unsigned LEB128 of at most 32 bits. https://webassembly.github.io/spec/core/binary/values.html#integers */
export function readU32(reader: ByteReader, what: string): number {
  const start = reader.offset;
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (reader.offset >= reader.end) throw endsEarly(reader, what);
    const byte = reader.bytes[reader.offset++] as number;
    if (shift === 28 && byte > 0x0f) {
      throw invalidModule(`Expected ${what} as a LEB128 of at most 32 bits, found a longer one`, start);
    }
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  throw invalidModule(`Expected ${what} as a LEB128 of at most 5 bytes, found a longer one`, start);
}

/** Reads an unsigned LEB128 of at most 64 bits, rounding to a double; limits are only compared, never stored. */
export function readU64(reader: ByteReader, what: string): number {
  const start = reader.offset;
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = readByte(reader, what);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw invalidModule(`Expected ${what} as a LEB128 of at most 10 bytes, found a longer one`, start);
}

/** Reads a signed LEB128 of at most 33 bits, such as a heap type or block type. */
export function readS33(reader: ByteReader, what: string): number {
  const start = reader.offset;
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = readByte(reader, what);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return byte & 0x40 ? value - 2 ** (7 * (index + 1)) : value;
  }
  throw invalidModule(`Expected ${what} as a LEB128 of at most 5 bytes, found a longer one`, start);
}

/**
 * Reads the length of a vector. Rejects a length that the remaining bytes can't hold, with at least `minElementBytes` per
 * element, so that callers can allocate by it.
 */
export function readCount(reader: ByteReader, what: string, minElementBytes = 1): number {
  const start = reader.offset;
  const count = readU32(reader, what);
  const remaining = reader.end - reader.offset;
  if (count * minElementBytes > remaining) {
    throw invalidModule(`Expected ${what} that fits the remaining ${remaining} bytes, found ${count}`, start);
  }
  return count;
}

/** Skips `length` bytes. */
export function skipBytes(reader: ByteReader, length: number, what: string): void {
  if (length > reader.end - reader.offset) {
    const remaining = reader.end - reader.offset;
    throw invalidModule(`Expected ${length} bytes of ${what}, found ${remaining}`, reader.offset);
  }
  reader.offset += length;
}

/** Skips a LEB128 of at most `maxBytes` bytes. */
export function skipLeb(reader: ByteReader, maxBytes: number, what: string): void {
  const start = reader.offset;
  while (readByte(reader, what) >= 0x80) {
    if (reader.offset - start >= maxBytes) {
      throw invalidModule(`Expected ${what} as a LEB128 of at most ${maxBytes} bytes, found a longer one`, start);
    }
  }
}

/** Reads a name: a vector of bytes that must be UTF-8. */
export function readName(reader: ByteReader, what: string): string {
  const length = readCount(reader, `the length of ${what}`);
  const start = reader.offset;
  skipBytes(reader, length, what);
  const text = decodeUtf8(reader.bytes, start, reader.offset);
  if (text === undefined) throw invalidModule(`Expected ${what} in UTF-8, found other bytes`, start);
  return text;
}

/** Skips a name, and returns the offset of its text. */
export function skipName(reader: ByteReader, what: string): number {
  const length = readCount(reader, `the length of ${what}`);
  const start = reader.offset;
  skipBytes(reader, length, what);
  if (!isUtf8(reader.bytes, start, reader.offset)) {
    throw invalidModule(`Expected ${what} in UTF-8, found other bytes`, start);
  }
  return start;
}

/** Whether a range is UTF-8. ASCII names, the usual case, need no decoder. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  for (let offset = start; offset < end; offset++) {
    if ((bytes[offset] as number) >= 0x80) return decodeUtf8(bytes, start, end) !== undefined;
  }
  return true;
}

/** The text of a range, or undefined if it isn't UTF-8. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** A view of the same bytes. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Checks that the reader is at its end. */
export function expectEnd(reader: ByteReader, what: string): void {
  if (reader.offset !== reader.end) {
    throw invalidModule(`Expected the end of ${what}, found ${reader.end - reader.offset} more bytes`, reader.offset);
  }
}

function endsEarly(reader: ByteReader, what: string) {
  return invalidModule(`Expected ${what}, found the end of the bytes`, reader.offset);
}
