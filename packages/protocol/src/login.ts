/** What all sides of a login have to agree on, beside its messages. */

/** The path of the loopback redirect: `http://127.0.0.1:<port>/callback`, or the same on `[::1]` (RFC 8252 §7.3). */
export const loopbackRedirectPath = '/callback';

/** Letters of user codes: no vowels, so no words, and nothing that is mistaken for a digit (RFC 8628 §6.1). */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';

/** How many letters a user code has: 20^8 are 34.5 bits. */
export const userCodeLength = 8;

/**
 * A user code as people read it: `BCDF-GHJK`.
 *
 * @param random a number below 20 for each of the eight letters
 */
export function formatUserCode(random: readonly number[]): string {
  const letters = random.slice(0, userCodeLength).map((value) => userCodeLetters[value % userCodeLetters.length]);
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

/** A user code as it was typed, in the form in which it was shown; case, dashes and spaces don't count. `undefined` when it can be none. */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s\u2010-\u2015-]/g, '');
  const isCode = letters.length === userCodeLength && [...letters].every((letter) => userCodeLetters.includes(letter));
  return isCode ? `${letters.slice(0, 4)}-${letters.slice(4)}` : undefined;
}

/**
 * The code by which a person sees that the page in the browser and the waiting terminal belong together, in a login with a
 * loopback redirect. Both make it of the PKCE challenge, which is a SHA-256 in base64url.
 */
export function comparisonCode(codeChallenge: string): string {
  return formatUserCode(Array.from(codeChallenge.slice(0, userCodeLength), (character) => character.charCodeAt(0)));
}
