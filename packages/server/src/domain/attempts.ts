import { DomainError } from './errors.ts';
import type { RateLimiter } from './ports.ts';

/*
 * Guessing is slowed without locking the owner out, as OWASP's "Slow Down Online Guessing Attacks with Device Cookies" has it:
 * a browser in which the account's owner has signed in before is counted on its own, so that what strangers do to the account
 * is nothing to it. https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */

/** The rate limits that use cases apply, each by a key of its own. */
export interface AttemptLimiters {
  /** Wrong passwords from a client's network, for any account. */
  readonly byAddress: RateLimiter;
  /** Wrong passwords for an e-mail address, from browsers that its account does not know. */
  readonly byAccount: RateLimiter;
  /** Wrong passwords from a browser that the account knows. */
  readonly byKnownBrowser: RateLimiter;
  /** Wrong passwords that a signed-in actor enters again, by session, or by account for the tokens of programs. */
  readonly byActor: RateLimiter;
  /** Right passwords, by account: each costs a hash, and entering one repeatedly would keep other accounts waiting. */
  readonly correctPasswords: RateLimiter;
  /** New passwords that are hashed for sign-ups, by the client's network. */
  readonly signUps: RateLimiter;
  /** Accounts made through invitations, by the account that invited. */
  readonly inviterSignUps: RateLimiter;
  /** Sign-ups with an e-mail address that has an account, by invitation or link. */
  readonly takenEmails: RateLimiter;
}

/** How an attempt ended. `undecided`: it failed for a reason that says nothing about the guess. */
export type Outcome = 'right' | 'wrong' | 'undecided';

/** One limit that an attempt is counted against. */
export interface AttemptLimit {
  readonly limiter: RateLimiter;
  readonly key: string;
  /** Which attempts stay counted. Default: `wrong`. */
  readonly counts?: 'right' | 'wrong' | 'both';
  /** What was done too often: a sentence. Default: `Too many wrong passwords.` */
  readonly message?: string;
}

/** Tells the outcome of an attempt from its result or its error. Default: a result is right, an error leaves it undecided. */
export interface OutcomeRules<T> {
  readonly ofResult?: (result: T) => Outcome;
  readonly ofError?: (error: unknown) => Outcome;
}

/** Too many attempts: the next one may come after so many seconds. */
export class TooManyAttemptsError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(what: string, retryAfterSeconds: number) {
    const wait = `Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`;
    super('rate_limited', `${what} ${wait}`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Runs an attempt under rate limits. Every limit is taken before the attempt runs, so that parallel attempts count too, and given
 * back when the outcome is not one that the limit counts.
 *
 * @throws TooManyAttemptsError before anything runs
 */
export async function withAttemptLimits<T>(
  limits: readonly AttemptLimit[],
  work: () => Promise<T>,
  { ofResult = () => 'right', ofError = () => 'undecided' }: OutcomeRules<T> = {},
): Promise<T> {
  const taken: AttemptLimit[] = [];
  const settle = (outcome: Outcome): void => {
    for (const { limiter, key, counts = 'wrong' } of taken) {
      const stays = counts === 'both' ? outcome !== 'undecided' : counts === outcome;
      if (!stays) limiter.give(key);
    }
  };
  for (const limit of limits) {
    const seconds = limit.limiter.take(limit.key);
    if (seconds > 0) {
      settle('undecided');
      throw new TooManyAttemptsError(limit.message ?? 'Too many wrong passwords.', seconds);
    }
    taken.push(limit);
  }
  try {
    const result = await work();
    settle(ofResult(result));
    return result;
  } catch (error) {
    settle(ofError(error));
    throw error;
  }
}

/** Runs a password check as an attempt: `false` is a wrong guess. */
export function checkPassword(limits: readonly AttemptLimit[], isRight: () => Promise<boolean>): Promise<boolean> {
  return withAttemptLimits(limits, isRight, { ofResult: (wasRight) => (wasRight ? 'right' : 'wrong') });
}
