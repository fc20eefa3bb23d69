import { hash } from 'node:crypto';
import type { RandomBytes } from '../db/store.ts';

const codeBytes = 32;

/**
 * Creates a secret for a cookie or a link: 256 random bits as 43 characters of base64url. It doesn't start with `-`, so that a command
 * line doesn't take it for an option.
 */
export function makeCode(random: RandomBytes): string {
  for (;;) {
    const code = Buffer.from(random(codeBytes)).toString('base64url');
    if (!code.startsWith('-')) return code;
  }
}

/** Whether a text has the format of {@link makeCode}. */
export function isCode(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Returns the stored hash of a token, an API key or a code: the SHA-256 of its text, as base64url. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
