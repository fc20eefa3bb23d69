/* Constants and codes that the server, the console and the command line share for a login. */

/** The path of the loopback redirect: `http://127.0.0.1:<port>/callback`, or the same on `[::1]` (RFC 8252 §7.3). */
export const loopbackRedirectPath = '/callback';

/** The letters of user codes. They have no vowels, so that codes are not words, and none looks like a digit (RFC 8628 §6.1). */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';

/** The number of letters: 20^8 codes are 34.5 bits. */
export const userCodeLength = 8;

/**
 * Formats a user code: `BCDF-GHJK`.
 *
 * @param random a number below 20 for each of the eight letters
 */
export function formatUserCode(random: readonly number[]): string {
  const letters = random.slice(0, userCodeLength).map((value) => userCodeLetters[value % userCodeLetters.length]);
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

/** Normalises a typed user code, ignoring case, dashes and spaces. Returns `undefined` for malformed text. */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s\u2010-\u2015-]/g, '');
  const isCode = letters.length === userCodeLength && [...letters].every((letter) => userCodeLetters.includes(letter));
  return isCode ? `${letters.slice(0, 4)}-${letters.slice(4)}` : undefined;
}

/**
 * Returns the code that both the browser page and the terminal show in a login with a loopback redirect, so that the user can compare them.
 * Both derive it from the PKCE challenge, a SHA-256 in base64url.
 */
export function comparisonCode(codeChallenge: string): string {
  return formatUserCode(Array.from(codeChallenge.slice(0, userCodeLength), (character) => character.charCodeAt(0)));
}
