import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey, parseBlobKey } from '../domain/housekeeping/blob-key.ts';

const generationPattern = /^[0-9a-f]{24}$/;
const namePattern = /^([0-9a-f]{64})(?:\.([0-9a-f]{24}))?$/;

/**
 * The name of a blob in a store: its SHA-256 in hexadecimal, followed by `.<generation>` unless that is `''`. Addresses are base64url
 * and can differ by case alone, which some file systems, and object stores on top of them, don't distinguish; hexadecimal is safe
 * everywhere.
 *
 * @returns `undefined` for a text that is no key, so that nothing unchecked becomes part of a path or a key
 */
export function objectName(key: BlobKey): string | undefined {
  const { address, generation } = parseBlobKey(key);
  const digest = digestName(address);
  if (digest === undefined || !(generation === '' || generationPattern.test(generation))) return undefined;
  if (blobKey({ address, generation }) !== key) return undefined;
  return generation === '' ? digest : `${digest}.${generation}`;
}

/** The key of the blob that has a name; `undefined` for a name that no blob has. */
export function keyOfName(name: string): BlobKey | undefined {
  const match = namePattern.exec(name);
  if (match === null) return undefined;
  const [, digest = '', generation = ''] = match;
  return blobKey({ address: Buffer.from(digest, 'hex').toString('base64url') as ContentAddress, generation });
}

/** The SHA-256 of an address in hexadecimal; `undefined` for a text that is the address of no bytes. */
export function digestName(address: ContentAddress): string | undefined {
  const digest = Buffer.from(address, 'base64url');
  // Also false for the addresses whose last character has bits beyond the 256, and would name the same blob as another.
  if (digest.length !== 32 || digest.toString('base64url') !== address) return undefined;
  return digest.toString('hex');
}
