import { TooManyAttemptsError } from '../http/domain-errors.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';

/*
 * Rate limits slow down password guessing without locking out the account's owner. They follow OWASP's "Slow Down Online Guessing
 * Attacks with Device Cookies": browsers in which the owner has signed in before have their own limit, which attempts from other
 * browsers don't use up. https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */

export interface AttemptLimiters {
  /** Wrong passwords for any account, by the client's network. */
  readonly byAddress: RateLimiter;
  /** Wrong passwords for an e-mail address in browsers that its account does not know, by the address. */
  readonly byAccount: RateLimiter;
  /** Wrong passwords in a browser that the account knows, by browser. */
  readonly byKnownBrowser: RateLimiter;
  /** Wrong passwords when a signed-in actor confirms the password, by session, or by account for programs' tokens. */
  readonly byActor: RateLimiter;
  /** Correct passwords, by account. Each costs a hash, so frequent sign-ins would delay other accounts. */
  readonly correctPasswords: RateLimiter;
  /** Started sign-ins with passkeys, by the client's network. */
  readonly passkeyChallenges: RateLimiter;
  /** Refused passkeys, by the client's network. */
  readonly refusedPasskeys: RateLimiter;
  /** Wrong recovery codes, by account. */
  readonly recoveryCodes: RateLimiter;
  /** Sign-ups for which a password was hashed, by the client's network. */
  readonly signUps: RateLimiter;
  /** Accounts created with invitations, by the inviting account. */
  readonly inviterSignUps: RateLimiter;
  /** Sign-ups with an e-mail address that already has an account, by invitation or link. */
  readonly takenEmails: RateLimiter;
  /** Requests for a password link, by the client's network. */
  readonly resetsByNetwork: RateLimiter;
  /** Mailed password links, by the e-mail address. */
  readonly resetsByAddress: RateLimiter;
  /** Requests for a link that verifies an address, by account. */
  readonly verifications: RateLimiter;
  /** Exchanges of identity tokens, by the client's network, and by account and issuer. */
  readonly tokenExchanges: RateLimiter;
  /** Audit events of refused sign-ins and token exchanges, by the client's network. */
  readonly refusalsByNetwork: RateLimiter;
  /** Audit events of refused sign-ins and token exchanges, for all clients together. */
  readonly refusals: RateLimiter;
  /** Audited uses from a network that is new to a token or an API key, by credential. */
  readonly newNetworks: RateLimiter;
  /** Sign-ins at providers, by the client's network. */
  readonly providerSignIns: RateLimiter;
}

/** The outcome of an attempt. `undecided`: it failed before the guess was checked. */
export type Outcome = 'right' | 'wrong' | 'undecided';

/** A rate limit that counts an attempt. */
export interface AttemptLimit {
  readonly limiter: RateLimiter;
  readonly key: string;
  /** The outcomes that count. Default: `wrong`. */
  readonly counts?: 'right' | 'wrong' | 'both';
  /** The first sentence of the error. Default: `Too many wrong passwords.` */
  readonly message?: string;
}

/** Derives the outcome of an attempt from its result or its error. */
export interface OutcomeRules<T> {
  /** Default: `right`. */
  readonly ofResult?: (result: T) => Outcome;
  /** Default: `undecided`. */
  readonly ofError?: (error: unknown) => Outcome;
}

/**
 * Runs an attempt under rate limits. It takes from every limit before the attempt runs, so that parallel attempts count too. After
 * the attempt, it gives back to the limits that don't count the outcome.
 *
 * @throws TooManyAttemptsError before the attempt runs
 */
export async function withAttemptLimits<T>(
  limits: readonly AttemptLimit[],
  work: () => Promise<T>,
  { ofResult = () => 'right', ofError = () => 'undecided' }: OutcomeRules<T> = {},
): Promise<T> {
  const taken: AttemptLimit[] = [];
  const settle = (outcome: Outcome): void => {
    for (const { limiter, key, counts = 'wrong' } of taken) {
      const isCounted = counts === 'both' ? outcome !== 'undecided' : counts === outcome;
      if (!isCounted) limiter.give(key);
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

/** Checks a password under rate limits. */
export function checkPassword(limits: readonly AttemptLimit[], verify: () => Promise<boolean>): Promise<boolean> {
  return withAttemptLimits(limits, verify, { ofResult: (isCorrect) => (isCorrect ? 'right' : 'wrong') });
}
