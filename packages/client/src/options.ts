import type { CacheStore } from './cache-store.ts';
import { type Clock, systemClock } from './clock.ts';
import { ClientError, invalidOption } from './errors.ts';
import { readTrustedKeys, type SigningKey, type TrustedKey } from './trusted-keys.ts';

/**
 * Returns the access token. Called before each request, so cache the token while it is valid.
 *
 * @param request `forceRefresh` after the server rejected the last token; `signal` aborts when no request needs the token
 */
export type GetToken = (request: {
  readonly forceRefresh: boolean;
  readonly signal: AbortSignal;
}) => string | Promise<string>;

/** What the client does about plugins whose provenance is not verified. */
export type VerifyMode = 'off' | 'warn' | 'require';

/** Returns the module to compile instead of a verified one, whose bytes it must not change. */
export type Transform = (module: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

export interface TimeoutOptions {
  /** Until the response headers arrive, including the connection and the token function. Default: 10,000. */
  readonly headersMs?: number;
  /** Between two chunks of a response body. Default: 10,000. */
  readonly idleMs?: number;
  /** For one request. Default: 300,000. */
  readonly totalMs?: number;
  /** For one store read or write. After that the client continues without the store. Default: 5,000. */
  readonly storeMs?: number;
}

export interface RetryOptions {
  /** How often a failed request is repeated if no cached result can be served. Default: 2. */
  readonly maxRetries?: number;
  /** The delay before the first retry. It doubles for each further one, minus a random part of up to a half. Default: 200. */
  readonly baseDelayMs?: number;
  /** The longest delay, also between probes of a server that is down. Default: 30,000. */
  readonly maxDelayMs?: number;
  /** The longest `retry-after` that a call waits for. A call fails at once if the server asks for more. Default: 5,000. */
  readonly maxRetryAfterMs?: number;
}

export interface MemoryOptions {
  /** Bytes of contents. Default: 64 MiB. */
  readonly maxContentBytes?: number;
  /** Compiled modules, measured by their WebAssembly bytes. Default: 256 MiB. */
  readonly maxModuleBytes?: number;
  /** Binding lists. Default: 10,000. */
  readonly maxLists?: number;
}

export interface LimitOptions {
  /** A larger content is rejected. Default: 64 MiB, as on the server. */
  readonly maxContentBytes?: number;
  /** A larger binding list, or list of attestations, is rejected. Default: 16 MiB. */
  readonly maxListBytes?: number;
}

export interface StreamingOptions {
  /** How many extension points have a change stream at once, with one connection each. The others are polled. Default: 4. */
  readonly maxStreams?: number;
  /**
   * How long a stream may be silent before it counts as broken. Until then a list can be out of date. The server sends a heartbeat
   * every 15 seconds. Default: 20,000.
   */
  readonly heartbeatTimeoutMs?: number;
}

export interface ReportOptions {
  /** How often reports are sent. Default: 10,000. */
  readonly intervalMs?: number;
}

/** All times are in milliseconds and may be `Infinity`. */
export interface ClientOptions {
  /** The server: `https://plugins.example`, with a path if it has one. */
  readonly baseUrl: string | URL;
  /** An access token of a member of the application, or a function that returns one. */
  readonly token: string | GetToken;
  /** Sends the requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Caches contents and binding lists beyond the process. Default: none. */
  readonly store?: CacheStore;
  /**
   * Separates the entries of several clients in one store: a client reads only entries of its own partition. Default: the token.
   * Required with a store if `token` is a function. Set it also if the token changes from time to time.
   */
  readonly cachePartition?: string;
  /**
   * Changes modules before they are compiled, such as by `instrument()` of `@tenon/instrument`, to limit instructions:
   * see {@link withFuel} of `@tenon/client/fuel`. Default: none.
   */
  readonly transform?: Transform;
  readonly memory?: MemoryOptions;
  readonly limits?: LimitOptions;
  /** How long a cached list is fresh. With 0 each call asks the server. Default: 1,000. */
  readonly maxAgeMs?: number;
  /** How long past `maxAgeMs` a list may be served while the server can't be asked. Default: `Infinity`. */
  readonly staleIfErrorMs?: number;
  /** How long a call waits for the server before it gets a stale list. The response still updates the cache. Default: 1,000. */
  readonly revalidateTimeoutMs?: number;
  /** Whether to serve a stale list if the server rejects the token (401, 403). Default: `true`. */
  readonly staleOnUnauthorized?: boolean;
  readonly timeouts?: TimeoutOptions;
  readonly retry?: RetryOptions;
  /**
   * Whether the server reports changes of binding lists over an open connection. Lists then stay fresh without polling. Where a stream
   * isn't available, `maxAgeMs` applies. A stream opens for an extension point whose lists are in use for more than a second, or at once
   * if `change` has a listener. In Node.js it keeps the process alive until `close()`. Default: `true`.
   */
  readonly streaming?: boolean | StreamingOptions;
  /**
   * Whether plugins need a publish attestation that a trusted key signed. `require` refuses other plugins, `warn` loads them and emits
   * `provenance`. `getContent()` knows no plugin, so it checks the digest only. Default: `off`.
   */
  readonly verify?: VerifyMode;
  /**
   * The server's signing keys, pinned: in PEM, or as `/.well-known/tenon-signing-keys.json` lists them. Required unless `verify` is
   * `off`.
   */
  readonly trustedKeys?: readonly (string | SigningKey)[];
  /**
   * Whether the calls that {@link Client.record} gets, and those of `createExtismPlugin()` and typed clients, are reported to the server.
   * It compares versions in a staged roll-out with the version before. Default: `false`.
   */
  readonly reports?: boolean | ReportOptions;
  /** Sends no request: only cached results are served. Default: `false`. */
  readonly offline?: boolean;
}

/** What tests replace. */
export interface Runtime {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** The checked options, with all defaults. */
export interface Settings
  extends Runtime,
    Required<
      Pick<
        ClientOptions,
        'fetch' | 'cachePartition' | 'maxAgeMs' | 'staleIfErrorMs' | 'revalidateTimeoutMs' | 'staleOnUnauthorized'
      >
    > {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: GetToken;
  /** Whether the token function can return another token after a 401. */
  readonly canRefreshToken: boolean;
  readonly store: CacheStore | undefined;
  readonly transform: Transform | undefined;
  readonly memory: Required<MemoryOptions>;
  readonly limits: Required<LimitOptions>;
  readonly timeouts: Required<TimeoutOptions>;
  readonly retry: Required<RetryOptions>;
  /** 0 without streaming. */
  readonly maxStreams: number;
  readonly heartbeatTimeoutMs: number;
  readonly verify: VerifyMode;
  readonly trustedKeys: readonly TrustedKey[];
  readonly isOffline: boolean;
  /** `undefined` without reports. */
  readonly reportIntervalMs: number | undefined;
}

const mebibyte = 1024 * 1024;

const optionNames = [
  ...[
    'baseUrl',
    'token',
    'fetch',
    'store',
    'cachePartition',
    'transform',
    'memory',
    'limits',
    'maxAgeMs',
    'staleIfErrorMs',
  ],
  ...[
    'revalidateTimeoutMs',
    'staleOnUnauthorized',
    'timeouts',
    'retry',
    'streaming',
    'verify',
    'trustedKeys',
    'reports',
    'offline',
  ],
];

/** @throws ClientError `invalid_option`, which names the option */
export function readOptions(
  options: ClientOptions,
  { clock = systemClock, random = Math.random }: Partial<Runtime> = {},
): Settings {
  const { store, limits, memory, retry, timeouts, fetch: send = globalThis.fetch } = options;
  if (globalThis.crypto?.subtle === undefined) {
    throw new ClientError('invalid_option', 'Digests need `crypto.subtle`, which pages have over https only');
  }
  rejectUnknown('', options, optionNames);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    ...readToken(options.token),
    cachePartition: readCachePartition(options),
    // Called as a plain function: browsers reject `fetch` as a method of another object.
    fetch: (input, init) => send(input, init),
    store,
    transform: readTransform(options.transform),
    ...readNumbers('', options, {
      maxAgeMs: 1_000,
      staleIfErrorMs: Number.POSITIVE_INFINITY,
      revalidateTimeoutMs: 1_000,
    }),
    memory: readNumbers('memory.', memory, {
      maxContentBytes: 64 * mebibyte,
      maxModuleBytes: 256 * mebibyte,
      maxLists: 10_000,
    }),
    limits: readNumbers('limits.', limits, { maxContentBytes: 64 * mebibyte, maxListBytes: 16 * mebibyte }),
    timeouts: readNumbers('timeouts.', timeouts, {
      headersMs: 10_000,
      idleMs: 10_000,
      totalMs: 300_000,
      storeMs: 5_000,
    }),
    retry: readNumbers('retry.', retry, {
      maxRetries: 2,
      baseDelayMs: 200,
      maxDelayMs: 30_000,
      maxRetryAfterMs: 5_000,
    }),
    ...readStreaming(options.streaming),
    staleOnUnauthorized: readBoolean('staleOnUnauthorized', options.staleOnUnauthorized, true),
    ...readVerify(options),
    reportIntervalMs: readReports(options.reports),
    isOffline: readBoolean('offline', options.offline, false),
    clock,
    random,
  };
}

function readBaseUrl(value: string | URL): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw invalidOption('baseUrl', 'must be an absolute URL'); // without the cause, which repeats the value
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalidOption('baseUrl', 'must be an http or https URL');
  if (url.username !== '' || url.password !== '') throw invalidOption('baseUrl', 'must not contain credentials');
  if (url.search !== '' || url.hash !== '') throw invalidOption('baseUrl', 'must not have a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

function readToken(token: ClientOptions['token']): Pick<Settings, 'token' | 'canRefreshToken'> {
  if (typeof token === 'function') return { token, canRefreshToken: true };
  if (!isSendable(token)) throw invalidOption('token', 'must be an access token or a function');
  return { token: () => token, canRefreshToken: false };
}

/** Whether a token is valid in a header field (https://www.rfc-editor.org/rfc/rfc6750#section-2.1). */
export function isSendable(token: unknown): token is string {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}

function readCachePartition({ cachePartition, token, store }: ClientOptions): string {
  if (typeof cachePartition === 'string' && cachePartition !== '') return `name:${cachePartition}`;
  if (cachePartition !== undefined) throw invalidOption('cachePartition', 'must be a non-empty string');
  if (typeof token === 'string') return `token:${token}`;
  if (store === undefined) return '';
  throw invalidOption('cachePartition', 'is required with a store if `token` is a function');
}

function readTransform(transform: ClientOptions['transform']): Transform | undefined {
  if (transform === undefined || typeof transform === 'function') return transform;
  throw invalidOption('transform', 'must be a function');
}

function readVerify({ verify = 'off', trustedKeys = [] }: ClientOptions): Pick<Settings, 'verify' | 'trustedKeys'> {
  if (!['off', 'warn', 'require'].includes(verify)) throw invalidOption('verify', 'must be "off", "warn" or "require"');
  const keys = readTrustedKeys(trustedKeys);
  if (verify !== 'off' && keys.length === 0)
    throw invalidOption('trustedKeys', `must have a key if \`verify\` is "${verify}"`);
  return { verify, trustedKeys: keys };
}

function readStreaming(streaming: ClientOptions['streaming']): Required<StreamingOptions> {
  const options = typeof streaming === 'object' ? streaming : {};
  const settings = readNumbers('streaming.', options, { maxStreams: 4, heartbeatTimeoutMs: 20_000 });
  return streaming === false ? { ...settings, maxStreams: 0 } : settings;
}

function readReports(reports: ClientOptions['reports']): number | undefined {
  const isOn = typeof reports === 'object' || readBoolean('reports', reports, false);
  const { intervalMs } = readNumbers('reports.', typeof reports === 'object' ? reports : {}, { intervalMs: 10_000 });
  return isOn ? intervalMs : undefined;
}

/** Without this check, a misspelt option would silently have no effect. */
function rejectUnknown(prefix: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalidOption(prefix + unknown, `is not known: use ${known.join(', ')}`);
}

/** The numbers among the options, with their defaults. */
function readNumbers<K extends string>(
  prefix: string,
  options: { readonly [_ in NoInfer<K>]?: number } = {},
  defaults: Readonly<Record<K, number>>,
): Record<K, number> {
  if (prefix !== '') rejectUnknown(prefix, options, Object.keys(defaults));
  const numbers: Record<K, number> = { ...defaults };
  for (const name of Object.keys(defaults) as K[]) {
    const { [name]: value = defaults[name] } = options;
    if (typeof value !== 'number' || !(value >= 0)) throw invalidOption(prefix + name, 'must be a number ≥ 0');
    numbers[name] = value;
  }
  return numbers;
}

function readBoolean(option: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? fallback;
  throw invalidOption(option, 'must be true or false');
}
