import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';

/** The names of the folders that blobs are spread over: `00` to `ff`. */
export const shards: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * The path of a blob, below the store's folder: `<first two digits>/<SHA-256 in hexadecimal>`. Addresses are base64url and can
 * differ by case alone, which some file systems don't tell apart; hexadecimal is safe everywhere.
 *
 * @returns `undefined` for a text that is the address of no bytes, so that nothing unchecked becomes part of a path
 */
export function blobPath(address: ContentAddress): string | undefined {
  const digest = Buffer.from(address, 'base64url');
  // Also false for the addresses whose last character has bits beyond the 256, and would name the same file as another.
  if (digest.length !== 32 || digest.toString('base64url') !== address) return undefined;
  const name = digest.toString('hex');
  return join(name.slice(0, 2), name);
}

/** The address of the blob whose file has a name; `undefined` for a name that no blob's file has. */
export function addressOfName(name: string): ContentAddress | undefined {
  return /^[0-9a-f]{64}$/.test(name) ? (Buffer.from(name, 'hex').toString('base64url') as ContentAddress) : undefined;
}
