import { createHash } from 'node:crypto';

/** A plugin of the fake server. */
export interface Module {
  readonly bytes: Buffer;
  readonly address: string;
}

const emptyModule = Buffer.from('0061736d01000000', 'hex');
const nameOfSection = Buffer.from('\u0001x');

/** Returns a valid WebAssembly module: a custom section with these contents, at most 2 MiB. */
export function moduleOf(contents: Uint8Array): Module {
  const section = [0, ...leb128(nameOfSection.length + contents.length)];
  const bytes = Buffer.concat([emptyModule, Uint8Array.from(section), nameOfSection, contents]);
  return { bytes, address: addressOf(bytes) };
}

/** The content address of bytes: their SHA-256 in unpadded base64url. */
export function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** An unsigned number as LEB128 in three bytes (https://webassembly.github.io/spec/core/binary/values.html#integers). */
function leb128(value: number): number[] {
  return [(value & 127) | 128, ((value >> 7) & 127) | 128, (value >> 14) & 127];
}
