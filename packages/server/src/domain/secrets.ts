import { hash } from 'node:crypto';

/** What is stored of a token, an API key or an invitation code: the SHA-256 of its text, as base64url. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
