import type { Config } from './config.ts';
import type { Clock, RateLimiter } from './domain/ports.ts';
import { createRateLimiter, type RateCounter } from './http/rate-limiter.ts';
import { createSlots, type SharedSlots, type Slots } from './http/slots.ts';

/** How much anybody may do of what is counted. Where several processes serve together, one counts for all of them. */
export interface Allowances {
  readonly rates: Rates;
  /** Streams of news, by who follows what. */
  readonly newsStreams: SharedSlots;
}

/** What is counted over time. The first five are of passwords: `GuessLimits` in the domain says what each of them is. */
export type RateName =
  | 'byAddress'
  | 'byAccount'
  | 'byKnownBrowser'
  | 'byAsker'
  | 'ofRight'
  | 'writes'
  | 'codeTries'
  | 'deviceLogins'
  | 'signUps';

export type Rates = Readonly<Record<RateName, RateLimiter>>;

/** Allowances that this process counts. */
export interface CountedAllowances extends Allowances {
  readonly rates: Readonly<Record<RateName, RateCounter>>;
  readonly newsStreams: Slots;
}

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

/** How many wrong passwords for one account may come at once; more come as slowly as the configuration says. */
const accountTriesAtOnce = 10;

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
>;

export function createRates(config: RateSettings, clock: Clock): CountedAllowances['rates'] {
  const aMinute = (count: number) => createRateLimiter(count / minuteSeconds, count, clock);
  const ofAccount = () => createRateLimiter(config.accountTriesPerHour / hourSeconds, accountTriesAtOnce, clock);
  return {
    byAddress: aMinute(config.signInTriesPerMinute),
    byAccount: ofAccount(),
    byKnownBrowser: ofAccount(),
    byAsker: ofAccount(),
    ofRight: aMinute(config.signInsPerMinute),
    writes: createRateLimiter(config.writesPerSecond, config.writeBurst, clock),
    codeTries: aMinute(config.codeTriesPerMinute),
    deviceLogins: aMinute(config.deviceLoginsPerMinute),
    signUps: createRateLimiter(config.signUpsPerHour / hourSeconds, config.signUpsPerHour, clock),
  };
}

export function createAllowances(
  config: RateSettings & Pick<Config, 'newsStreams' | 'newsStreamsPerToken'>,
  clock: Clock,
): CountedAllowances {
  return {
    rates: createRates(config, clock),
    newsStreams: createSlots(config.newsStreams, config.newsStreamsPerToken),
  };
}
