import type { Config } from './config.ts';
import type { Clock, RateLimiter } from './domain/ports.ts';
import { createRateLimiter } from './http/rate-limiter.ts';
import { createSlots, type Slots } from './http/slots.ts';

/** The limits that this process counts. */
export interface Allowances {
  readonly rates: Rates;
  /** Streams of news, by account. */
  readonly newsStreams: Slots;
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

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;

/** How many wrong passwords for one account may come at once; more come as slowly as the configuration says. */
const accountTriesAtOnce = 10;

/** How many sign-ups a day with an e-mail address that has an account one invitation or link allows. */
const takenEmailsPerDay = 5;

type RateSettings = Pick<
  Config,
  | 'workers'
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

/**
 * Each process counts by itself. Where several workers serve, each allows only its part of what slows guessing, so that more workers give
 * no more guesses.
 */
export function createRates(config: RateSettings, clock: Clock = monotonicClock): Rates {
  const part = (count: number) => Math.max(1, Math.floor(count / config.workers));
  const limiter = (count: number, seconds: number, atOnce = count) => createRateLimiter(count / seconds, atOnce, clock);
  const guesses = (count: number, seconds: number, atOnce = count) => limiter(part(count), seconds, part(atOnce));
  const ofAccount = () => guesses(config.accountTriesPerHour, hourSeconds, accountTriesAtOnce);
  return {
    byAddress: guesses(config.signInTriesPerMinute, minuteSeconds),
    byAccount: ofAccount(),
    byKnownBrowser: ofAccount(),
    byActor: ofAccount(),
    correctPasswords: guesses(config.signInsPerMinute, minuteSeconds),
    writes: limiter(config.writesPerSecond, 1, config.writeBurst),
    codeTries: guesses(config.codeTriesPerMinute, minuteSeconds),
    deviceLogins: limiter(config.deviceLoginsPerMinute, minuteSeconds),
    signUps: limiter(config.signUpsPerHour, hourSeconds),
    inviterSignUps: limiter(config.inviterSignUpsPerDay, daySeconds),
    takenEmails: guesses(takenEmailsPerDay, daySeconds),
  };
}

export function createAllowances(
  config: RateSettings & Pick<Config, 'newsStreams' | 'newsStreamsPerAccount'>,
  clock: Clock = monotonicClock,
): Allowances {
  return {
    rates: createRates(config, clock),
    newsStreams: createSlots(config.newsStreams, config.newsStreamsPerAccount),
  };
}
