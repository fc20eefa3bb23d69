import { DomainError } from './errors.ts';
import type { RateLimiter } from './ports.ts';

/*
 * Guessing is slowed without locking the owner out, as OWASP's "Slow Down Online Guessing Attacks with Device Cookies" has it:
 * a browser in which the account's owner has signed in before is counted on its own, so that what strangers do to the account
 * is nothing to it. https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */

/** What is counted of passwords, each by a key of its own. */
export interface GuessLimits {
  /** From a client address, whatever the account. */
  readonly byAddress: RateLimiter;
  /** For an e-mail address, from browsers that its account does not know. */
  readonly byAccount: RateLimiter;
  /** From a browser that the account knows. */
  readonly byKnownBrowser: RateLimiter;
  /** Where somebody who is signed in enters the password again, by session, or by account for the tokens of programs. */
  readonly byAsker: RateLimiter;
  /** Right ones, by account: whoever has one could enter it without end, and keep the passwords of everybody else waiting. */
  readonly ofRight: RateLimiter;
}

/** One thing that a guess is counted against. */
export interface GuessCount {
  readonly limiter: RateLimiter;
  readonly key: string;
  /** Which guesses stay counted. Default: those that were wrong. */
  readonly counts?: 'right' | 'wrong';
}

/** Too many wrong guesses: the next one may come after so many seconds. */
export class TooManyGuessesError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(what: string, retryAfterSeconds: number) {
    const wait = `Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`;
    super('rate_limited', `${what} ${wait}`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Carries out a guess. It is counted before it is carried out, so that many at the same time are counted too, and taken back
 * where it was not what is counted.
 *
 * @throws TooManyGuessesError before anything is carried out
 */
export async function guess(counts: readonly GuessCount[], isRight: () => Promise<boolean>): Promise<boolean> {
  const taken: GuessCount[] = [];
  const settle = (outcome?: 'right' | 'wrong'): void => {
    for (const { limiter, key, counts: counted = 'wrong' } of taken) if (counted !== outcome) limiter.give(key);
  };
  for (const count of counts) {
    const seconds = await count.limiter.take(count.key);
    if (seconds > 0) {
      settle();
      const what = count.counts === 'right' ? 'This password is entered too often.' : 'Too many wrong passwords.';
      throw new TooManyGuessesError(what, seconds);
    }
    taken.push(count);
  }
  try {
    const wasRight = await isRight();
    settle(wasRight ? 'right' : 'wrong');
    return wasRight;
  } catch (error) {
    settle();
    throw error;
  }
}
