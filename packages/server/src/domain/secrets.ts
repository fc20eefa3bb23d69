import { hash } from 'node:crypto';
import type { RandomBytes } from './ports.ts';

const codeBytes = 32;

/**
 * A secret for a cookie or a link: 256 random bits as base64url, 43 characters. None starts with `-`, with which it would be an option on a
 * command line.
 */
export function makeCode(random: RandomBytes): string {
  for (;;) {
    const code = Buffer.from(random(codeBytes)).toString('base64url');
    if (!code.startsWith('-')) return code;
  }
}

/** Whether a text can be what {@link makeCode} makes. */
export function isCode(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** What is stored of a token, an API key or a code: the SHA-256 of its text, as base64url. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
