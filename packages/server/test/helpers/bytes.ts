import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';

/** Bytes that are the same for the same seed, and look like nothing else. */
export function bytesOf(seed: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  for (let at = 0; at < length; at++) {
    state ^= state << 13; // xorshift32: https://www.jstatsoft.org/article/view/v008i14
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state;
  }
  return bytes;
}

export function addressOfBytes(bytes: Uint8Array): ContentAddress {
  return createHash('sha256').update(bytes).digest('base64url') as ContentAddress;
}

/** All chunks together. */
export async function collect(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array | undefined> {
  if (chunks === undefined) return undefined;
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return new Uint8Array(Buffer.concat(collected));
}

/** Fails unless both are the same bytes, without writing out where they differ: that takes minutes for large ones. */
export function assertSameBytes(actual: Uint8Array | undefined, expected: Uint8Array, message = 'the bytes'): void {
  assert.ok(actual !== undefined, `${message} are there`);
  assert.equal(actual.length, expected.length, `the length of ${message}`);
  assert.equal(addressOfBytes(actual), addressOfBytes(expected), `the digest of ${message}`);
}
