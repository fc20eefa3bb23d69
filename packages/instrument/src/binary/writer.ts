/** An output buffer that grows. Only `bytes[0 .. length)` is written. */
export interface ByteWriter {
  bytes: Uint8Array;
  length: number;
}

export function createWriter(capacityBytes: number): ByteWriter {
  return { bytes: new Uint8Array(capacityBytes), length: 0 };
}

/** Makes room for `count` more bytes. */
export function reserve(writer: ByteWriter, count: number): void {
  const needed = writer.length + count;
  if (needed <= writer.bytes.length) return;
  const grown = new Uint8Array(Math.max(needed, Math.ceil(writer.bytes.length * 1.5)));
  grown.set(writer.bytes.subarray(0, writer.length));
  writer.bytes = grown;
}

export function writeByte(writer: ByteWriter, byte: number): void {
  reserve(writer, 1);
  writer.bytes[writer.length++] = byte;
}

export function writeU32(writer: ByteWriter, value: number): void {
  reserve(writer, 5);
  writer.length = putU32(writer.bytes, writer.length, value);
}

export function writeS32(writer: ByteWriter, value: number): void {
  reserve(writer, 5);
  writer.length = putS32(writer.bytes, writer.length, value);
}

/** Appends the signed LEB128 of a safe integer. */
export function writeS64(writer: ByteWriter, value: number): void {
  let rest = value;
  for (;;) {
    const low = ((rest % 0x80) + 0x80) % 0x80;
    rest = Math.floor(rest / 0x80);
    const isLast = low < 0x40 ? rest === 0 : rest === -1;
    writeByte(writer, isLast ? low : low | 0x80);
    if (isLast) return;
  }
}

/** Appends `source[start .. end)`. */
export function writeRange(writer: ByteWriter, source: Uint8Array, start = 0, end: number = source.length): void {
  reserve(writer, end - start);
  if (end - start > shortBytes) writer.bytes.set(source.subarray(start, end), writer.length);
  else for (let from = start, to = writer.length; from < end; ) writer.bytes[to++] = source[from++] as number;
  writer.length += end - start;
}

/** Up to this length a loop is faster than `set()`. */
const shortBytes = 48;

/** Appends a name: its length in bytes, then its UTF-8. */
export function writeName(writer: ByteWriter, name: string): void {
  if (writeAsciiName(writer, name)) return;
  const encoded = new TextEncoder().encode(name);
  writeU32(writer, encoded.length);
  writeRange(writer, encoded);
}

/** Writes a short ASCII name, the usual case, without an encoder. Returns false for other names. */
function writeAsciiName(writer: ByteWriter, name: string): boolean {
  if (name.length >= 0x80) return false;
  reserve(writer, name.length + 1);
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code >= 0x80) return false;
    writer.bytes[writer.length + 1 + index] = code;
  }
  writer.bytes[writer.length] = name.length;
  writer.length += name.length + 1;
  return true;
}

/**
 * Appends what `write` writes, preceded by its length. `expectedBytes` decides how many bytes are reserved for the length.
 * If it takes another number of bytes, the content is moved.
 */
export function writeSized(writer: ByteWriter, expectedBytes: number, write: () => void): void {
  const sizeAt = writer.length;
  const guess = u32Length(expectedBytes);
  reserve(writer, guess);
  writer.length += guess;
  write();
  const size = writer.length - sizeAt - guess;
  const actual = u32Length(size);
  if (actual !== guess) {
    reserve(writer, Math.max(0, actual - guess));
    writer.bytes.copyWithin(sizeAt + actual, sizeAt + guess, writer.length);
    writer.length += actual - guess;
  }
  putU32(writer.bytes, sizeAt, size);
}

/** Writes an unsigned LEB128 in its shortest form at `at`, and returns the offset after it. */
export function putU32(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** Writes a signed LEB128 in its shortest form at `at`, and returns the offset after it. */
export function putS32(target: Uint8Array, at: number, value: number): number {
  let rest = value | 0;
  while (rest < -0x40 || rest > 0x3f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  target[at++] = rest & 0x7f;
  return at;
}

/** Bytes that the shortest LEB128 of an unsigned value takes. */
export function u32Length(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Bytes that the shortest signed LEB128 of a value ≥ 0 takes. */
export function s32Length(value: number): number {
  return u32Length(2 * value);
}
