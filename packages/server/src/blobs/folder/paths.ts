import { join } from 'node:path';
import type { BlobKey } from '../../db/blob-key.ts';
import { objectName } from '../object-name.ts';

/** The names of the folders that hold the blobs: `00` to `ff`. */
export const shards: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Returns the path of a blob relative to the store's folder: `<first two digits>/<SHA-256 in hexadecimal>[.<generation>]`.
 *
 * @returns `undefined` for a malformed key
 */
export function blobPath(key: BlobKey): string | undefined {
  const name = objectName(key);
  return name && join(name.slice(0, 2), name);
}
