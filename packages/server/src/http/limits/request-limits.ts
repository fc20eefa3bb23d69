import type { Config } from '../../config/config.ts';
import type { Clock } from '../../db/store.ts';
import { createKeyedSemaphore } from './keyed-semaphore.ts';
import { createRateLimiter } from './rate-limiter.ts';

/** The rate limiters and concurrency limits of this process. */
export type RequestLimits = ReturnType<typeof createRequestLimits>;

export type Rates = ReturnType<typeof createRates>;

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;

/** The burst of wrong passwords for one account. The configured rate applies after it. */
const accountTryBurst = 10;

/** How many sign-ins with passkeys may start for each allowed wrong password: each opened sign-in page starts one. */
const challengesPerTry = 6;

/** How many sign-ups per day with an existing e-mail address one invitation or link allows. */
const takenEmailsPerDay = 5;

/** Sign-ins at providers that one network may start, and complete. Many people may be behind one address. */
const providerSignInsPerMinute = 120;

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
  | 'publicReadsPerMinute'
  | 'signUpsPerHour'
  | 'inviterSignUpsPerDay'
>;

/** A clock in milliseconds that changes of the system time don't affect. */
export const monotonicClock: Clock = () => performance.now();

/**
 * Creates the rate limiters. The first five limit password attempts; see `AttemptLimiters`. Each process counts by itself. Limits against guessing are divided by the number of workers, so that more
 * workers don't allow more guesses.
 */
export function createRates(config: RateSettings, clock: Clock = monotonicClock) {
  const perWorker = (count: number) => Math.max(1, Math.floor(count / config.workers));
  const limiter = (count: number, seconds: number, burst = count) => createRateLimiter(count / seconds, burst, clock);
  const guessLimiter = (count: number, seconds: number, burst = count) =>
    limiter(perWorker(count), seconds, perWorker(burst));
  const accountLimiter = () => guessLimiter(config.accountTriesPerHour, hourSeconds, accountTryBurst);
  return {
    byAddress: guessLimiter(config.signInTriesPerMinute, minuteSeconds),
    byAccount: accountLimiter(),
    byKnownBrowser: accountLimiter(),
    byActor: accountLimiter(),
    correctPasswords: guessLimiter(config.signInsPerMinute, minuteSeconds),
    passkeyChallenges: guessLimiter(challengesPerTry * config.signInTriesPerMinute, minuteSeconds),
    refusedPasskeys: guessLimiter(config.signInTriesPerMinute, minuteSeconds),
    recoveryCodes: accountLimiter(),
    writes: limiter(config.writesPerSecond, 1, config.writeBurst),
    codeTries: guessLimiter(config.codeTriesPerMinute, minuteSeconds),
    deviceLogins: limiter(config.deviceLoginsPerMinute, minuteSeconds),
    tokenExchanges: guessLimiter(60, minuteSeconds),
    publicReads: limiter(config.publicReadsPerMinute, minuteSeconds),
    signUps: limiter(config.signUpsPerHour, hourSeconds),
    inviterSignUps: limiter(config.inviterSignUpsPerDay, daySeconds),
    takenEmails: guessLimiter(takenEmailsPerDay, daySeconds),
    resetsByNetwork: guessLimiter(20, hourSeconds),
    resetsByAddress: guessLimiter(5, hourSeconds),
    verifications: guessLimiter(5, hourSeconds),
    refusalsByNetwork: guessLimiter(4, minuteSeconds, 30),
    refusals: guessLimiter(10, minuteSeconds, 300),
    newNetworks: limiter(10, daySeconds),
    providerSignIns: limiter(providerSignInsPerMinute, minuteSeconds),
  };
}

export function createRequestLimits(
  config: RateSettings & Pick<Config, 'changeStreams' | 'changeStreamsPerAccount'>,
  clock: Clock = monotonicClock,
) {
  return {
    rates: createRates(config, clock),
    /** Open event streams, by account. */
    changeStreams: createKeyedSemaphore(config.changeStreams, config.changeStreamsPerAccount),
  };
}
