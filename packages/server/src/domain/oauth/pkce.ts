import { hash, timingSafeEqual } from 'node:crypto';

/** Whether a text can be a challenge of the method S256: a SHA-256 in base64url (RFC 7636 §4.2). */
export function isCodeChallenge(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** Whether a text has the form of a code verifier (RFC 7636 §4.1). */
export function isCodeVerifier(text: string): boolean {
  return /^[\w.~-]{43,128}$/.test(text);
}

/** Whether a verifier is the one that the challenge was made of (RFC 7636 §4.6). The time that it takes tells nothing. */
export function verifiesChallenge(verifier: string, challenge: string): boolean {
  const made = Buffer.from(hash('sha256', verifier, 'base64url'));
  const known = Buffer.from(challenge);
  return made.length === known.length && timingSafeEqual(made, known);
}
