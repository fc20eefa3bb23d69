import type { Random } from '../random.ts';

/** Bytes of a module as nested lists, so that what is written first can be sized last. */
export type Bytes = readonly (number | Bytes)[];

export function flatten(bytes: Bytes): number[] {
  return (bytes as readonly unknown[]).flat(Number.POSITIVE_INFINITY) as number[];
}

/** Writes numbers, every so often in more bytes than they need. */
export interface Assembler {
  readonly u32: (value: number) => number[];
  readonly s32: (value: number) => number[];
  readonly s64: (value: bigint) => number[];
  /** A count, then what is counted. */
  readonly vector: (items: readonly Bytes[]) => Bytes;
  /** The number of bytes, then the bytes. */
  readonly sized: (bytes: Bytes) => number[];
  readonly name: (text: string) => number[];
}

export function createAssembler(random: Random, paddedPercent: number): Assembler {
  /** Appends continuation bytes that add nothing: zeros, or the sign. */
  const padded = (bytes: number[], maxBytes: number, filler: number): number[] => {
    if (!random.chance(paddedPercent / 100)) return bytes;
    const length = bytes.length + random.below(maxBytes - bytes.length + 1);
    const more = length - bytes.length;
    if (more === 0) return bytes;
    const middle = new Array<number>(more - 1).fill(filler | 0x80);
    return [...bytes.slice(0, -1), (bytes.at(-1) as number) | 0x80, ...middle, filler];
  };
  const signed = (value: bigint, maxBytes: number): number[] => {
    const bytes: number[] = [];
    let rest = value;
    while (rest < -64n || rest > 63n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest & 0x7fn));
    return padded(bytes, maxBytes, value < 0n ? 0x7f : 0);
  };
  const u32 = (value: number): number[] => {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
    return padded(bytes, 5, 0);
  };
  const sized = (bytes: Bytes): number[] => {
    const flat = flatten(bytes);
    return [...u32(flat.length), ...flat];
  };
  return {
    u32,
    s32: (value) => signed(BigInt(value), 5),
    s64: (value) => signed(value, 10),
    vector: (items) => [u32(items.length), ...items],
    sized,
    name: (text) => sized([...new TextEncoder().encode(text)]),
  };
}

/** The instructions and types that the programs need, under the names of the text format. */
export const op = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  try: 0x06,
  catch: 0x07,
  throw: 0x08,
  rethrow: 0x09,
  throw_ref: 0x0a,
  end: 0x0b,
  br: 0x0c,
  br_if: 0x0d,
  br_table: 0x0e,
  return: 0x0f,
  call: 0x10,
  call_indirect: 0x11,
  return_call: 0x12,
  return_call_indirect: 0x13,
  call_ref: 0x14,
  return_call_ref: 0x15,
  delegate: 0x18,
  catch_all: 0x19,
  drop: 0x1a,
  try_table: 0x1f,
  local_get: 0x20,
  local_set: 0x21,
  global_get: 0x23,
  memory_grow: 0x40,
  i32_const: 0x41,
  i64_const: 0x42,
  f64_const: 0x44,
  i32_eqz: 0x45,
  i32_sub: 0x6b,
  i32_div_s: 0x6d,
  i32_and: 0x71,
  ref_null: 0xd0,
  ref_func: 0xd2,
  br_on_null: 0xd5,
  br_on_non_null: 0xd6,
} as const;

export const gc = { prefix: 0xfb, br_on_cast: 24, br_on_cast_fail: 25, ref_i31: 28 } as const;
export const empty = 0x40;
export const heap = { func: 0x70, any: 0x6e, i31: 0x6c, exn: 0x69, none: 0x71 } as const;
