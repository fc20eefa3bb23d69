import type { ContentAddress } from '@tenon/protocol';

/**
 * The name of a blob in a store: its SHA-256 in hexadecimal. Addresses are base64url and can differ by case alone, which some
 * file systems, and object stores on top of them, don't tell apart; hexadecimal is safe everywhere.
 *
 * @returns `undefined` for a text that is the address of no bytes, so that nothing unchecked becomes part of a path or a key
 */
export function digestName(address: ContentAddress): string | undefined {
  const digest = Buffer.from(address, 'base64url');
  // Also false for the addresses whose last character has bits beyond the 256, and would name the same blob as another.
  if (digest.length !== 32 || digest.toString('base64url') !== address) return undefined;
  return digest.toString('hex');
}

/** The address of the blob that has a name; `undefined` for a name that no blob has. */
export function addressOfName(name: string): ContentAddress | undefined {
  return /^[0-9a-f]{64}$/.test(name) ? (Buffer.from(name, 'hex').toString('base64url') as ContentAddress) : undefined;
}
