/** Writes a protobuf message from its end to its start, so that the length of nested messages is known. */
export interface ProtobufWriter {
  /** The number of bytes so far. */
  readonly length: () => number;
  readonly text: (value: string) => void;
  /** Bytes in hexadecimal. */
  readonly hex: (digits: string) => void;
  /** An unsigned LEB128 number, what protobuf calls a varint. */
  readonly varint: (value: number) => void;
  /** One of 64 bits, in two's complement where it is negative. */
  readonly varint64: (value: bigint) => void;
  readonly fixed32: (value: number) => void;
  readonly fixed64: (value: bigint) => void;
  readonly double: (value: number) => void;
  readonly finish: () => Uint8Array<ArrayBuffer>;
}

const maxLoopLength = 100;

/** https://protobuf.dev/programming-guides/encoding/ */
export function createProtobufWriter(): ProtobufWriter {
  const encoder = new TextEncoder();
  let buffer = new Uint8Array(1024);
  let view = new DataView(buffer.buffer);
  let start = buffer.length;

  /** Reserves `count` bytes before the written ones, and returns their offset. */
  function reserve(count: number): number {
    if (count > start) grow(count);
    start -= count;
    return start;
  }

  function grow(count: number): void {
    const used = buffer.length - start;
    const larger = new Uint8Array(Math.max(buffer.length * 2, used + count));
    larger.set(buffer.subarray(start), larger.length - used);
    buffer = larger;
    view = new DataView(larger.buffer);
    start = larger.length - used;
  }

  /** Whether it was ASCII. */
  function writeAscii(value: string): boolean {
    const at = reserve(value.length);
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        start += value.length;
        return false;
      }
      buffer[at + index] = code;
    }
    return true;
  }

  return {
    length: () => buffer.length - start,
    text(value) {
      // Most texts are short and of ASCII, for which the encoder is slower than a loop.
      if (value.length > maxLoopLength || !writeAscii(value)) {
        const bytes = encoder.encode(value);
        const at = reserve(bytes.length);
        buffer.set(bytes, at);
      }
    },
    hex(digits) {
      const size = digits.length >> 1;
      const at = reserve(size);
      for (let index = 0; index < size; index++) {
        buffer[at + index] = (digitOf(digits, index * 2) << 4) | digitOf(digits, index * 2 + 1);
      }
    },
    varint(value) {
      let size = 1;
      for (let rest = value; rest >= 0x80; rest /= 128) size++;
      const at = reserve(size);
      let rest = value;
      for (let index = 0; index < size - 1; index++, rest = Math.floor(rest / 128))
        buffer[at + index] = (rest % 128) | 0x80;
      buffer[at + size - 1] = rest;
    },
    varint64(value) {
      const groups: number[] = [];
      let rest = BigInt.asUintN(64, value);
      for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
      groups.push(Number(rest));
      const at = reserve(groups.length);
      buffer.set(groups, at);
    },
    fixed32(value) {
      const at = reserve(4);
      view.setUint32(at, value, true);
    },
    fixed64(value) {
      const at = reserve(8);
      view.setBigUint64(at, BigInt.asUintN(64, value), true);
    },
    double(value) {
      const at = reserve(8);
      view.setFloat64(at, value, true);
    },
    finish: () => buffer.slice(start),
  };
}

/** `0`–`9` are 0x30 to 0x39, `a`–`f` 0x61 to 0x66. */
function digitOf(digits: string, at: number): number {
  const code = digits.charCodeAt(at);
  return (code & 0xf) + (code > 0x39 ? 9 : 0);
}
