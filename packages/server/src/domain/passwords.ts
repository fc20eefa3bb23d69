import type { SessionId, UserId } from '@tenon/protocol';
import { type AttemptLimit, checkPassword } from './attempts.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { Queries } from './ports.ts';
import type { PasswordRecord } from './records.ts';

/** Why a right password is refused by its rate limit. */
export const passwordEnteredTooOften = 'This password is entered too often.';

/** What is hashed of a password: the same whatever keyboard it was typed on (RFC 8265 §4.2.2). */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/** Somebody who is signed in: in a browser, or by a program's token. */
export interface SessionActor {
  readonly userId: UserId;
  readonly sessionId: SessionId | null;
}

/**
 * Demands the password of an account of somebody who is signed in already. Guesses are counted for each session, and in common for
 * all tokens: a program that has one can make itself others.
 *
 * @throws DomainError `invalid_credentials`, `rate_limited` after too many wrong ones, `conflict` for an account without one
 * @throws UnavailableError when too many passwords wait to be looked at
 */
export async function requirePassword(
  context: Context,
  { userId, sessionId }: SessionActor,
  password: string,
): Promise<PasswordRecord> {
  const current = await context.store.read.password(userId);
  if (current === undefined) {
    throw new DomainError('conflict', 'This account has no password. The operator can make a link that sets one.');
  }
  const { byActor, correctPasswords } = context.rates;
  const counts: AttemptLimit[] = [
    { limiter: byActor, key: sessionId ?? userId },
    { limiter: correctPasswords, key: userId, counts: 'right', message: passwordEnteredTooOften },
  ];
  const isRight = await checkPassword(counts, () => context.passwords.verify(preparePassword(password), current.hash));
  if (!isRight) throw new DomainError('invalid_credentials', 'The password is not that of this account.');
  return current;
}

/**
 * Requires that a password which was verified is still the account's: verifying takes a while, and the password may have been
 * changed meanwhile. Call it in the transaction that makes the change.
 *
 * @param verified what {@link requirePassword} returned
 * @throws DomainError `conflict`
 */
export async function requireUnchangedPassword(tx: Queries, verified: PasswordRecord): Promise<void> {
  const current = await tx.password(verified.userId);
  if (current?.hash === verified.hash) return;
  throw new DomainError('conflict', 'The password was changed at the same time. Sign in with the new one.');
}
