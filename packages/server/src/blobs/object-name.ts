import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey, parseBlobKey } from '../db/blob-key.ts';

const generationPattern = /^[0-9a-f]{24}$/;
const namePattern = /^([0-9a-f]{64})(?:\.([0-9a-f]{24}))?$/;

/**
 * Returns the file name or object name of a blob: its SHA-256 in hexadecimal, followed by `.<generation>` unless the generation is empty.
 * Content addresses are base64url, so two of them can differ only in case. Names are hexadecimal because some file systems ignore case.
 *
 * @returns `undefined` for a malformed key, so that unchecked text never becomes part of a path
 */
export function objectName(key: BlobKey): string | undefined {
  const { address, generation } = parseBlobKey(key);
  const digest = digestName(address);
  if (digest === undefined || !(generation === '' || generationPattern.test(generation))) return undefined;
  if (blobKey({ address, generation }) !== key) return undefined;
  return generation === '' ? digest : `${digest}.${generation}`;
}

/** The inverse of {@link objectName}. Returns `undefined` for any other name. */
export function keyOfName(name: string): BlobKey | undefined {
  const match = namePattern.exec(name);
  if (match === null) return undefined;
  const [, digest = '', generation = ''] = match;
  return blobKey({ address: Buffer.from(digest, 'hex').toString('base64url') as ContentAddress, generation });
}

/** Converts a content address to a hexadecimal SHA-256. Returns `undefined` for a malformed address. */
export function digestName(address: ContentAddress): string | undefined {
  const digest = Buffer.from(address, 'base64url');
  // The second check also rejects non-canonical addresses, which set the unused bits of the last character.
  if (digest.length !== 32 || digest.toString('base64url') !== address) return undefined;
  return digest.toString('hex');
}
