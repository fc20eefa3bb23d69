import { contentAddressPattern } from './bindings.ts';
import { invalidArgument } from './errors.ts';

/** @throws ClientError `invalid_argument` */
export function assertContentAddress(address: string): void {
  if (typeof address === 'string' && contentAddressPattern.test(address)) return;
  throw invalidArgument('A content address must have 43 characters of base64url');
}

/** SHA-256 of the platform (https://w3c.github.io/webcrypto/#subtlecrypto-interface). */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** The content address of bytes: their SHA-256 in unpadded base64url. */
export async function addressOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = String.fromCharCode(...(await sha256(bytes)));
  return btoa(digest).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** A content address as hexadecimal. */
export function hexOfAddress(address: string): string {
  const digest = atob(address.replaceAll('-', '+').replaceAll('_', '/'));
  return toHex(Uint8Array.from(digest, (character) => character.charCodeAt(0)));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
