import type { Allowances, RateName, Rates } from '../allowances.ts';
import { type RateLimiter, UnavailableError } from '../domain/ports.ts';
import type { CountAnswer, CountMessage } from './messages.ts';

/** How long an answer may take, in milliseconds: the primary has next to nothing to do. */
const answerMs = 5_000;

/** What the primary counts, for a worker. */
export interface AskedAllowances {
  readonly allowances: Allowances;
  /** Hands on the primary's answer to a question. */
  answered(id: number, answer: CountAnswer): void;
  /** The primary is gone: nothing is allowed any more. */
  close(): void;
}

interface Question {
  answered(answer: CountAnswer): void;
  fail(): void;
}

/**
 * Asks the primary for everything, so that many processes allow no more than one would. What it doesn't answer isn't allowed: the
 * request is answered 503.
 */
export function askPrimary(send: (message: CountMessage) => void): AskedAllowances {
  const open = new Map<number, Question>();
  let lastId = 0;
  let isClosed = false;
  let streams = 0;

  const ask = (make: (id: number) => CountMessage, onFail: (id: number) => void = () => {}): Promise<CountAnswer> => {
    const { promise, resolve, reject } = Promise.withResolvers<CountAnswer>();
    const unanswered = new UnavailableError('The process that counts for all does not answer');
    if (isClosed) return Promise.reject(unanswered);
    const id = ++lastId;
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      open.delete(id);
      how();
    };
    const fail = () =>
      settle(() => {
        onFail(id);
        reject(unanswered);
      });
    const timer = setTimeout(fail, answerMs);
    timer.unref();
    open.set(id, { fail, answered: (answer) => settle(() => resolve(answer)) });
    send(make(id));
    return promise;
  };
  const limiter = (rate: RateName): RateLimiter => {
    const take = async (key: string) => Number(await ask((id) => ({ kind: 'rate', id, rate, key })));
    return { take, give: (key) => send({ kind: 'give', rate, key }) };
  };
  const takeStream = async (key: string) => {
    const give = (id: number): void => send({ kind: 'free', id });
    let slot = 0;
    const make = (id: number): CountMessage => {
      slot = id;
      return { kind: 'slot', id, key };
    };
    const answer = await ask(make, give); // messages keep their order: what comes late is given back
    if (answer === 'all taken' || answer === 'taken by key') return answer;
    streams++;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      streams--;
      give(slot);
    };
  };

  return {
    allowances: {
      rates: ratesOf(limiter),
      newsStreams: {
        take: takeStream,
        get taken() {
          return streams;
        },
      },
    },
    answered: (id, answer) => open.get(id)?.answered(answer),
    close() {
      isClosed = true;
      for (const question of [...open.values()]) question.fail();
    },
  };
}

function ratesOf(limiter: (rate: RateName) => RateLimiter): Rates {
  return {
    byAddress: limiter('byAddress'),
    byAccount: limiter('byAccount'),
    byKnownBrowser: limiter('byKnownBrowser'),
    byActor: limiter('byActor'),
    correctPasswords: limiter('correctPasswords'),
    writes: limiter('writes'),
    codeTries: limiter('codeTries'),
    deviceLogins: limiter('deviceLogins'),
    signUps: limiter('signUps'),
    inviterSignUps: limiter('inviterSignUps'),
    takenEmails: limiter('takenEmails'),
  };
}
