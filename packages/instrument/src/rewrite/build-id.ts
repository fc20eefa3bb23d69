import { expectEnd, readCount, viewOf } from '../binary/reader.ts';
import { contentReader, type Section } from '../binary/sections.ts';

/** The build ID in a `build_id` section. Throws `invalid_module` for a malformed section. */
export function readBuildId(bytes: Uint8Array, section: Section): Uint8Array {
  const reader = contentReader(bytes, section);
  const size = readCount(reader, 'the size of the build ID');
  const id = bytes.slice(reader.offset, reader.offset + size);
  reader.offset += size;
  expectEnd(reader, 'the build ID');
  return id;
}

/** Writes an ID of the same length to `target`, from the old ID and the other bytes of the module. */
export function writeNewBuildId(target: Uint8Array, oldId: Uint8Array, output: Uint8Array): void {
  target.fill(0);
  const [a, b, c, d] = hash(output, hash(oldId, [0, 0, 0, 0]));
  const block = new Uint32Array(4);
  for (let at = 0, seed = 0; at < target.length; at += 16, seed++) {
    block.set(hash(oldId, [a ^ seed, b, c, d]));
    target.set(new Uint8Array(block.buffer, 0, Math.min(16, target.length - at)), at);
  }
}

type State = readonly [number, number, number, number];

/**
 * A hash of 128 bits after MurmurHash3. It makes equal IDs of different builds unlikely, and is not cryptographic, as the IDs
 * of linkers are not.
 */
function hash(bytes: Uint8Array, [s0, s1, s2, s3]: State): State {
  const view = viewOf(bytes);
  let [a, b, c, d] = [s0, s1, s2, s3];
  const whole = bytes.length & ~15;
  for (let at = 0; at < whole; at += 16) {
    a = mix(a, view.getInt32(at, true), b);
    b = mix(b, view.getInt32(at + 4, true), c);
    c = mix(c, view.getInt32(at + 8, true), d);
    d = mix(d, view.getInt32(at + 12, true), a);
  }
  for (let at = whole; at < bytes.length; at++) a = mix(a, bytes[at] as number, d);
  a = finish(a ^ bytes.length ^ b);
  b = finish(b ^ a ^ c);
  c = finish(c ^ b ^ d);
  d = finish(d ^ c ^ a);
  return [finish(a ^ d), b, c, d];
}

function mix(state: number, word: number, neighbour: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const mixed = state ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + neighbour + 0xe6546b64) | 0;
}

function finish(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
