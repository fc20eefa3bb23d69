import { type Clock, systemClock } from './clock.ts';
import { ClientError } from './errors.ts';
import type { Store } from './store.ts';

/**
 * Gives the access token, before each request: keep it while it is good.
 *
 * @param need `isRefused` when the server took the last one no more; `signal` when nobody waits any longer
 */
export type TokenSource = (need: {
  readonly isRefused: boolean;
  readonly signal: AbortSignal;
}) => string | Promise<string>;

export interface TimeoutOptions {
  /** Until an answer begins, connecting and the token function included. Default: 10,000. */
  readonly headersMs?: number;
  /** Between two pieces of an answer. Default: 10,000. */
  readonly idleMs?: number;
  /** For one request in all. Default: 300,000. */
  readonly totalMs?: number;
  /** For one reading or writing of the store; then it is gone on without. Default: 5,000. */
  readonly storeMs?: number;
}

export interface RetryOptions {
  /** How often something is asked for, the first time included, where nothing kept can be served instead. Default: 3. */
  readonly attempts?: number;
  /** The wait before the second attempt; it doubles from there on, and is shortened at random by up to a half. Default: 200. */
  readonly baseDelayMs?: number;
  /** What waits grow to. A server that does not answer is asked at least this often, while something is asked for. Default: 30,000. */
  readonly maxDelayMs?: number;
  /** How long a call waits at most for what `retry-after` says. Beyond that it fails, and says how long. Default: 5,000. */
  readonly maxRetryAfterMs?: number;
}

export interface MemoryOptions {
  /** Bytes of contents. Default: 64 MiB. */
  readonly maxContentBytes?: number;
  /** Compiled modules, by the bytes that they were compiled from. Default: 256 MiB. */
  readonly maxModuleBytes?: number;
  /** Lists. Default: 10,000. */
  readonly maxLists?: number;
}

export interface LimitOptions {
  /** A larger content is refused. Default: 64 MiB, as the server's. */
  readonly maxContentBytes?: number;
  /** A larger list is refused. Default: 16 MiB. */
  readonly maxListBytes?: number;
}

export interface NewsOptions {
  /** How many extension points are followed at once, by a connection each; those beyond are polled. Default: 4. */
  readonly maxStreams?: number;
  /**
   * How long a connection may be silent before it counts as broken: until then lists are served that may have changed. The server says
   * something every 15 seconds. Default: 20,000.
   */
  readonly silenceMs?: number;
}

/** All times are in milliseconds; `Infinity` is a time too. */
export interface ClientOptions {
  /** Where the server is: `https://plugins.example`, with a path if it has one. */
  readonly baseUrl: string | URL;
  /** An access token of a member of the application, or what gives it. */
  readonly token: string | TokenSource;
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** Where contents and lists are kept beyond the process. Default: nowhere. */
  readonly store?: Store;
  /**
   * Whose the entries in the store are: what was kept for one identity is served to no other. Default: the token. Must be given where
   * the token is a function; give it too where a token is replaced by another one from time to time.
   */
  readonly identity?: string;
  readonly memory?: MemoryOptions;
  readonly limits?: LimitOptions;
  /** How long a list is served without asking whether it still holds. 0 asks each time. Default: 1,000. */
  readonly staleMs?: number;
  /** How old a list may be that is served because it can't be asked for. Default: `Infinity`. */
  readonly maxStaleMs?: number;
  /** How long to wait for an answer where a kept list can be served instead. Default: 1,000. */
  readonly patienceMs?: number;
  /** What to do with a kept list when the server refuses the token (401, 403): serve it, or fail. Default: `'serve'`. */
  readonly onRefusal?: 'serve' | 'fail';
  readonly timeouts?: TimeoutOptions;
  readonly retry?: RetryOptions;
  /**
   * Whether to be told by the server which lists change, by a connection that stays open: lists need not be asked for again then, and a change
   * is here at once. Where that can't be had, lists are polled as `staleMs` says. A connection is opened for an extension point whose lists
   * are in use for more than a second, or when somebody listens for `changed`; in Node.js it keeps the process from ending until
   * `close()` is called. Default: `true`.
   */
  readonly news?: boolean | NewsOptions;
  /** Asks for nothing: what is kept is all there is. Default: `false`. */
  readonly offline?: boolean;
  /** For tests. */
  readonly clock?: Clock;
  /** From 0 up to 1. For tests. */
  readonly random?: () => number;
}

/** The options, checked and whole. */
export interface Settings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: TokenSource;
  /** Whether another token may be had when one is refused. */
  readonly canRenewToken: boolean;
  readonly identity: string;
  readonly fetch: typeof globalThis.fetch;
  readonly store: Store | undefined;
  readonly memory: Required<MemoryOptions>;
  readonly limits: Required<LimitOptions>;
  readonly staleMs: number;
  readonly maxStaleMs: number;
  readonly patienceMs: number;
  readonly onRefusal: 'serve' | 'fail';
  readonly timeouts: Required<TimeoutOptions>;
  readonly retry: Required<RetryOptions>;
  /** 0 for no news. */
  readonly maxNewsStreams: number;
  readonly newsSilenceMs: number;
  readonly isOffline: boolean;
  readonly clock: Clock;
  readonly random: () => number;
}

const mebibyte = 1024 * 1024;

/** @throws ClientError `invalid_option`, which names the option */
export function readOptions(options: ClientOptions): Settings {
  const { token, store, memory = {}, limits = {}, timeouts = {}, retry = {} } = options;
  const { fetch: send = globalThis.fetch, clock = systemClock, random = Math.random } = options;
  if (globalThis.crypto?.subtle === undefined) {
    throw new ClientError('invalid_option', 'Contents cannot be checked here: pages get crypto.subtle over https only');
  }
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    ...readToken(token),
    identity: readIdentity(options),
    // Called as a plain function: browsers refuse `fetch` as some other object's method.
    fetch: (input, init) => send(input, init),
    store,
    memory: {
      maxContentBytes: amount('memory.maxContentBytes', memory.maxContentBytes, 64 * mebibyte),
      maxModuleBytes: amount('memory.maxModuleBytes', memory.maxModuleBytes, 256 * mebibyte),
      maxLists: amount('memory.maxLists', memory.maxLists, 10_000),
    },
    limits: {
      maxContentBytes: amount('limits.maxContentBytes', limits.maxContentBytes, 64 * mebibyte),
      maxListBytes: amount('limits.maxListBytes', limits.maxListBytes, 16 * mebibyte),
    },
    staleMs: amount('staleMs', options.staleMs, 1_000),
    maxStaleMs: amount('maxStaleMs', options.maxStaleMs, Number.POSITIVE_INFINITY),
    patienceMs: amount('patienceMs', options.patienceMs, 1_000),
    onRefusal: readRefusal(options.onRefusal),
    timeouts: {
      headersMs: amount('timeouts.headersMs', timeouts.headersMs, 10_000),
      idleMs: amount('timeouts.idleMs', timeouts.idleMs, 10_000),
      totalMs: amount('timeouts.totalMs', timeouts.totalMs, 300_000),
      storeMs: amount('timeouts.storeMs', timeouts.storeMs, 5_000),
    },
    retry: {
      attempts: Math.max(1, amount('retry.attempts', retry.attempts, 3)),
      baseDelayMs: amount('retry.baseDelayMs', retry.baseDelayMs, 200),
      maxDelayMs: amount('retry.maxDelayMs', retry.maxDelayMs, 30_000),
      maxRetryAfterMs: amount('retry.maxRetryAfterMs', retry.maxRetryAfterMs, 5_000),
    },
    ...readNews(options.news),
    isOffline: options.offline === true,
    clock,
    random,
  };
}

function readBaseUrl(value: string | URL): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw invalidOption('baseUrl', 'is no absolute URL'); // without the cause, which would repeat it
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalidOption('baseUrl', 'is no http or https URL');
  if (url.username !== '' || url.password !== '') throw invalidOption('baseUrl', 'must hold no credentials');
  if (url.search !== '' || url.hash !== '') throw invalidOption('baseUrl', 'must have no query and no fragment');
  return url.href.replace(/\/+$/, '');
}

function readToken(token: ClientOptions['token']): Pick<Settings, 'token' | 'canRenewToken'> {
  if (typeof token === 'function') return { token, canRenewToken: true };
  if (!isSendable(token)) throw invalidOption('token', 'is neither an access token nor a function');
  return { token: () => token, canRenewToken: false };
}

/** Whether a token can stand in a header field (https://www.rfc-editor.org/rfc/rfc6750#section-2.1). */
export function isSendable(token: unknown): token is string {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}

function readIdentity({ identity, token, store }: ClientOptions): string {
  if (typeof identity === 'string' && identity !== '') return `name:${identity}`;
  if (identity !== undefined) throw invalidOption('identity', 'is no text, or empty');
  if (typeof token === 'string') return `token:${token}`;
  if (store === undefined) return '';
  throw invalidOption('identity', 'must say whose the entries in the store are, since the token is a function');
}

function readRefusal(value: unknown): 'serve' | 'fail' {
  if (value === undefined || value === 'serve') return 'serve';
  if (value === 'fail') return 'fail';
  throw invalidOption('onRefusal', 'is neither "serve" nor "fail"');
}

function readNews(news: ClientOptions['news'] = true): Pick<Settings, 'maxNewsStreams' | 'newsSilenceMs'> {
  const { maxStreams, silenceMs } = typeof news === 'object' ? news : {};
  const max = amount('news.maxStreams', maxStreams, 4);
  return { maxNewsStreams: news === false ? 0 : max, newsSilenceMs: amount('news.silenceMs', silenceMs, 20_000) };
}

function amount(option: string, value: number | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'number' && value >= 0) return value;
  throw invalidOption(option, 'is no number from 0 up');
}

function invalidOption(option: string, fault: string): ClientError {
  return new ClientError('invalid_option', `The option \`${option}\` ${fault}`, { option });
}
