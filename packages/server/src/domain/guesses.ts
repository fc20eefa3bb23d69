import { DomainError } from './errors.ts';
import type { RateLimiter } from './ports.ts';

/*
 * Guessing is slowed without locking the owner out, as OWASP's "Slow Down Online Guessing Attacks with Device Cookies" has it:
 * a browser in which the account's owner has signed in before is counted on its own, so that what strangers do to the account
 * is nothing to it. https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */

/** What is counted of wrong passwords, each by a key of its own. */
export interface GuessLimits {
  /** From a client address, whatever the account. */
  readonly byAddress: RateLimiter;
  /** For an e-mail address, from browsers that its account does not know. */
  readonly byAccount: RateLimiter;
  /** From a browser that the account knows. */
  readonly byKnownBrowser: RateLimiter;
  /** Where somebody who is signed in enters the password again, by session, or by account for the tokens of programs. */
  readonly byAsker: RateLimiter;
}

/** One thing that a guess is counted against. */
export interface GuessCount {
  readonly limiter: RateLimiter;
  readonly key: string;
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
 * unless it was wrong.
 *
 * @throws TooManyGuessesError before anything is carried out
 */
export async function guess(counts: readonly GuessCount[], isRight: () => Promise<boolean>): Promise<boolean> {
  const taken: GuessCount[] = [];
  const takeBack = (): void => {
    for (const { limiter, key } of taken) limiter.give(key);
  };
  for (const count of counts) {
    const seconds = count.limiter.take(count.key);
    if (seconds > 0) {
      takeBack();
      throw new TooManyGuessesError('Too many wrong passwords.', seconds);
    }
    taken.push(count);
  }
  try {
    const wasRight = await isRight();
    if (wasRight) takeBack();
    return wasRight;
  } catch (error) {
    takeBack();
    throw error;
  }
}
