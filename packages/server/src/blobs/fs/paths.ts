import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';
import { digestName } from '../digest-name.ts';

/** The names of the folders that blobs are spread over: `00` to `ff`. */
export const shards: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * The path of a blob, below the store's folder: `<first two digits>/<SHA-256 in hexadecimal>`.
 *
 * @returns `undefined` for a text that is the address of no bytes
 */
export function blobPath(address: ContentAddress): string | undefined {
  const name = digestName(address);
  return name && join(name.slice(0, 2), name);
}
