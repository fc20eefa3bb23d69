import { hash, timingSafeEqual } from 'node:crypto';

/** Whether a text has the format of a code challenge of the method S256: a SHA-256 in base64url (RFC 7636 §4.2). */
export function isCodeChallenge(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** Whether a text has the format of a code verifier (RFC 7636 §4.1). */
export function isCodeVerifier(text: string): boolean {
  return /^[\w.~-]{43,128}$/.test(text);
}

/** Whether a challenge was derived from a verifier (RFC 7636 §4.6). Takes constant time. */
export function verifiesChallenge(verifier: string, challenge: string): boolean {
  const actual = Buffer.from(hash('sha256', verifier, 'base64url'));
  const expected = Buffer.from(challenge);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
