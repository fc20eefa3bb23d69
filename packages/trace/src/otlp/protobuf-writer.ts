/** Writes a protobuf message from its end to its beginning, so that the length of what lies within is known when it is due. */
export interface ProtobufWriter {
  /** How many bytes there are so far. */
  readonly length: () => number;
  readonly bytes: (value: Uint8Array) => void;
  readonly text: (value: string) => void;
  /** An unsigned LEB128 number, what protobuf calls a varint. */
  readonly varint: (value: number) => void;
  /** One of 64 bits, in two's complement where it is negative. */
  readonly varint64: (value: bigint) => void;
  readonly fixed32: (value: number) => void;
  readonly fixed64: (value: bigint) => void;
  readonly double: (value: number) => void;
  readonly finish: () => Uint8Array<ArrayBuffer>;
}

/** https://protobuf.dev/programming-guides/encoding/ */
export function createProtobufWriter(): ProtobufWriter {
  const encoder = new TextEncoder();
  let buffer = new Uint8Array(1024);
  let view = new DataView(buffer.buffer);
  let start = buffer.length;

  /** Makes room for so many bytes before what there is, and says where they go. */
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

  function bytes(value: Uint8Array): void {
    const at = reserve(value.length);
    buffer.set(value, at);
  }

  return {
    length: () => buffer.length - start,
    bytes,
    text(value) {
      bytes(encoder.encode(value));
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
