import type { Config } from './config.ts';
import type { Clock, RateLimiter } from './domain/ports.ts';
import { createRateLimiter, type RateCounter } from './http/rate-limiter.ts';
import { createSlots, type SharedSlots, type Slots } from './http/slots.ts';

/** How much anybody may do of what is counted. Where several processes serve together, one counts for all of them. */
export interface Allowances {
  readonly rates: Rates;
  /** Streams of news, by account. */
  readonly newsStreams: SharedSlots;
}

/** What is counted over time. The first five are of passwords: `AttemptLimiters` in the domain says what each of them is. */
export type RateName =
  | 'byAddress'
  | 'byAccount'
  | 'byKnownBrowser'
  | 'byActor'
  | 'correctPasswords'
  | 'writes'
  | 'codeTries'
  | 'deviceLogins'
  | 'signUps'
  | 'inviterSignUps'
  | 'takenEmails';

export type Rates = Readonly<Record<RateName, RateLimiter>>;

/** Allowances that this process counts. */
export interface CountedAllowances extends Allowances {
  readonly rates: Readonly<Record<RateName, RateCounter>>;
  readonly newsStreams: Slots;
}

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;

/** How many wrong passwords for one account may come at once; more come as slowly as the configuration says. */
const accountTriesAtOnce = 10;

/** How many sign-ups a day with an e-mail address that has an account one invitation or link allows. */
const takenEmailsPerDay = 5;

type RateSettings = Pick<
  Config,
  | 'signInTriesPerMinute'
  | 'accountTriesPerHour'
  | 'signInsPerMinute'
  | 'writesPerSecond'
  | 'writeBurst'
  | 'codeTriesPerMinute'
  | 'deviceLoginsPerMinute'
  | 'signUpsPerHour'
  | 'inviterSignUpsPerDay'
>;

/** Elapsed time in milliseconds, which no change of the machine's clock moves. Limits count by it. */
export const monotonicClock: Clock = () => performance.now();

export function createRates(config: RateSettings, clock: Clock = monotonicClock): CountedAllowances['rates'] {
  const aMinute = (count: number) => createRateLimiter(count / minuteSeconds, count, clock);
  const ofAccount = () => createRateLimiter(config.accountTriesPerHour / hourSeconds, accountTriesAtOnce, clock);
  return {
    byAddress: aMinute(config.signInTriesPerMinute),
    byAccount: ofAccount(),
    byKnownBrowser: ofAccount(),
    byActor: ofAccount(),
    correctPasswords: aMinute(config.signInsPerMinute),
    writes: createRateLimiter(config.writesPerSecond, config.writeBurst, clock),
    codeTries: aMinute(config.codeTriesPerMinute),
    deviceLogins: aMinute(config.deviceLoginsPerMinute),
    signUps: createRateLimiter(config.signUpsPerHour / hourSeconds, config.signUpsPerHour, clock),
    inviterSignUps: createRateLimiter(config.inviterSignUpsPerDay / daySeconds, config.inviterSignUpsPerDay, clock),
    takenEmails: createRateLimiter(takenEmailsPerDay / daySeconds, takenEmailsPerDay, clock),
  };
}

export function createAllowances(
  config: RateSettings & Pick<Config, 'newsStreams' | 'newsStreamsPerAccount'>,
  clock: Clock = monotonicClock,
): CountedAllowances {
  return {
    rates: createRates(config, clock),
    newsStreams: createSlots(config.newsStreams, config.newsStreamsPerAccount),
  };
}
