import { maxPasswordLength, minPasswordLength } from '@tenon/protocol';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import type { CommonPasswords } from './common-passwords.ts';
import { preparePassword } from './passwords.ts';

/** The user of a new password. An attacker tries the user's name and e-mail address first. */
interface PasswordOwner {
  readonly email: string | null;
  readonly name: string;
}

/** The minimum number of characters that don't repeat or continue the previous one, as in `aaaa` and `1234`. */
const minUnpredictableCharacters = 6;

/** Shorter parts of a name or an e-mail address are ignored, because passwords contain them by chance. */
const minWordLength = 3;

/**
 * Hashes a new password.
 *
 * @param field the name of the request's field, for the error
 * @throws DomainError `weak_password` with the reason
 * @throws UnavailableError if too many passwords wait to be hashed
 */
export async function hashNewPassword(
  deps: Deps,
  password: string,
  owner: PasswordOwner,
  field: 'password' | 'newPassword',
): Promise<string> {
  return deps.passwords.hash(await requireStrongPassword(deps, password, owner, field));
}

/**
 * Checks a new password.
 *
 * @returns the normalized password, for {@link PasswordHasher.hash}
 * @throws DomainError `weak_password` with the reason
 */
export async function requireStrongPassword(
  deps: Pick<Deps, 'commonPasswords'>,
  password: string,
  owner: PasswordOwner,
  field: 'password' | 'newPassword',
): Promise<string> {
  const prepared = preparePassword(password);
  const reason = await weaknessOf(prepared, owner, deps.commonPasswords);
  if (reason === undefined) return prepared;
  throw new DomainError('weak_password', `The password ${reason}.`, {
    errors: [{ pointer: `/${field}`, detail: reason }],
  });
}

/**
 * Returns why a password is too easy to guess, as a predicate that completes "The password …"; `undefined` for a good password. No
 * rule requires kinds of characters, because such rules make passwords worse (NIST SP 800-63B-4, 3.1.1.2).
 */
export async function weaknessOf(
  password: string,
  owner: PasswordOwner,
  common: CommonPasswords,
): Promise<string | undefined> {
  const length = [...password].length;
  if (length < minPasswordLength) return `must have at least ${minPasswordLength} characters`;
  if (length > maxPasswordLength) return `must have at most ${maxPasswordLength} characters`;
  const folded = password.normalize('NFKC').toLowerCase();
  if (countUnpredictableCharacters(folded) < minUnpredictableCharacters) return 'repeats itself, or counts up or down';
  if (countUnpredictableCharacters(withoutWords(folded, wordsOf(owner))) < minUnpredictableCharacters) {
    return 'is little more than your name, your e-mail address or the name of this service';
  }
  if (await isCommon(folded, common)) return 'is common or was leaked: choose another one';
  return undefined;
}

async function isCommon(folded: string, common: CommonPasswords): Promise<boolean> {
  if (await common.has(folded)) return true;
  const { head, core, tail } = splitDecorations(folded);
  const word = undoSubstitutions(core);
  const digits = tail.replace(/\D/g, '');
  if (await common.has(word + digits)) return true;
  return countUnpredictableCharacters(head + tail) < minUnpredictableCharacters && common.has(word);
}

/** Splits a password into a word (`core`) and the digits and punctuation before and after it. */
function splitDecorations(text: string): { head: string; core: string; tail: string } {
  const [, head = '', core = '', tail = ''] = /^([^\p{L}@$]*)(.*?)([^\p{L}]*)$/su.exec(text) ?? [];
  return { head, core, tail };
}

const substitutions: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};

/** Replaces digits and signs that stand for letters, as in `p@ssw0rd`. */
function undoSubstitutions(word: string): string {
  return word.replace(/[@431!0$57]/g, (sign) => substitutions[sign] ?? sign);
}

function wordsOf({ email, name }: PasswordOwner): string[] {
  const address = email ?? '';
  const parts = `${address} ${name}`.normalize('NFKC').toLowerCase();
  const words = [address.toLowerCase(), ...parts.split(/[^\p{L}\p{N}]+/u), parts.split('@', 1)[0] ?? '', 'tenon'];
  return words.filter((word) => [...word].length >= minWordLength).sort((a, b) => b.length - a.length);
}

function withoutWords(text: string, words: readonly string[]): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text);
}

/** Counts the characters that neither equal the previous one nor are next to it in the alphabet. */
function countUnpredictableCharacters(text: string): number {
  let previous = Number.NaN;
  let count = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (!(Math.abs(code - previous) <= 1)) count++;
    previous = code;
  }
  return count;
}
