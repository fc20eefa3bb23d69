import { hash } from 'node:crypto';

/** The content address of bytes. */
export function addressOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url');
}
