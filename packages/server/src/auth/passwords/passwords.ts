import type { PasswordRecord } from '../../db/records.ts';
import type { Queries } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import type { Actor } from '../access.ts';
import { type AttemptLimit, checkPassword } from '../attempts.ts';
import { recordingRefusal } from '../refusals.ts';

/** The message of the rate limit for correct passwords. */
export const passwordEnteredTooOften = 'This password is entered too often.';

/** @throws DomainError `password_sign_in_off` if the server's configuration turns passwords off */
export function requirePasswordSignIn({ settings }: Pick<Deps, 'settings'>): void {
  if (settings.signIn.passwordSignIn) return;
  throw new DomainError(
    'password_sign_in_off',
    'This server has turned password sign-in off. Sign in with a provider.',
  );
}

/** Normalizes a password before it is hashed, so that it is the same on every keyboard (RFC 8265 §4.2.2). */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/**
 * Requires the password of the actor's account. Wrong passwords are counted for each session, and for all tokens of the account
 * together, because a program with one token can create others.
 *
 * @returns the stored hash, for {@link requireUnchangedPassword}
 * @throws DomainError `invalid_credentials`, `rate_limited` after too many wrong passwords, `conflict` for an account without one
 * @throws UnavailableError if too many passwords wait to be verified
 */
export async function requirePassword(
  deps: Deps,
  { userId, sessionId }: Pick<Actor, 'userId' | 'sessionId'>,
  password: string,
): Promise<PasswordRecord> {
  const current = await deps.store.read.password(userId);
  if (current === undefined) {
    throw new DomainError('conflict', 'This account has no password. The operator can create a link that sets one.');
  }
  const { byActor, correctPasswords } = deps.rates;
  const limits: AttemptLimit[] = [
    { limiter: byActor, key: sessionId ?? userId },
    { limiter: correctPasswords, key: userId, counts: 'right', message: passwordEnteredTooOften },
  ];
  return recordingRefusal(deps, { address: null, accountId: userId }, async () => {
    const isCorrect = await checkPassword(limits, () => deps.passwords.verify(preparePassword(password), current.hash));
    if (!isCorrect) throw new DomainError('invalid_credentials', 'The password is wrong.');
    return current;
  });
}

/**
 * Requires that the account still has the verified password, because it may have been changed during the slow verification. Call it
 * in the transaction that makes the change.
 *
 * @param verified the result of {@link requirePassword}
 * @throws DomainError `conflict`
 */
export async function requireUnchangedPassword(tx: Queries, verified: PasswordRecord): Promise<void> {
  const current = await tx.password(verified.userId);
  if (current?.hash === verified.hash) return;
  throw new DomainError('conflict', 'The password was changed during the request. Sign in with the new one.');
}
