import {
  type Check,
  checkOptions,
  expects,
  expectsSecret,
  isCount,
  isFunction,
  isObject,
  isRecord,
  oneOf,
  optionGroup,
} from '../check-options.ts';
import type { TraceError } from '../errors.ts';
import type { ResourceAttributes } from './resource.ts';

/** Headers of every request, or a function that returns them for each request. */
export type OtlpHeaders =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** How a request that failed for a while is repeated: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
export interface OtlpRetry {
  /** The first one included. Default: 5. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt; doubled before each further one, and taken by chance from the upper half. Default: 1,000. */
  readonly initialDelayMs: number;
  /** Default: 30,000. */
  readonly maxDelayMs: number;
  /** A server that asks for a longer wait (`retry-after`) is not asked again. Default: 60,000. */
  readonly maxRetryAfterMs: number;
}

/** The address of a collector, and the protocol. */
export interface OtlpOptions {
  /** The collector's base URL, below which `/v1/traces` and `/v1/metrics` lie. Default: `http://localhost:4318`. */
  readonly endpoint?: string | undefined;
  /** The whole URL, where it is another one than that below `endpoint`. */
  readonly url?: string | undefined;
  /** Default: `http/protobuf`. */
  readonly protocol?: 'http/protobuf' | 'http/json' | undefined;
  readonly headers?: OtlpHeaders | undefined;
  /** Default: `none`. `gzip` needs `CompressionStream`, which every host of 2023 has. */
  readonly compression?: 'gzip' | 'none' | undefined;
  /** Resource attributes, which should include `service.name`. */
  readonly resource?: ResourceAttributes | undefined;
  /** Milliseconds for one attempt, the answer included. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<OtlpRetry> | undefined;
  /** Milliseconds that `shutdown()` waits for what is on its way; then it is given up. Default: 30,000. */
  readonly shutdownTimeoutMs?: number | undefined;
  /** Default: the host's. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Receives each `export_failed`; `flush()` also rejects with the first one. Default: none.
   */
  readonly onError?: ((error: TraceError) => void) | undefined;
}

/** The platform functions that an exporter uses. */
export interface OtlpEnvironment {
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Uniformly distributed from 0 to 1. */
  readonly random: () => number;
  /** Calls back once, unless the returned function cancels it. The process stays alive for it only if `holds`. */
  readonly schedule: (callback: () => void, delayMs: number, holds: boolean) => () => void;
}

export const defaultRetry: OtlpRetry = Object.freeze({
  maxAttempts: 5,
  initialDelayMs: 1_000,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 60_000,
});

/** The host's environment. */
export function hostEnvironment(options: OtlpOptions): OtlpEnvironment {
  return {
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    now: Date.now,
    random: Math.random,
    schedule(callback, delayMs, holds) {
      const timer: unknown = setTimeout(callback, delayMs);
      // In browsers, timers are numbers.
      if (!holds) (timer as { unref?: () => void }).unref?.();
      return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
    },
  };
}

/** Milliseconds that a timer can hold. */
export const isTimerDelay: Check = expects(
  'a number of milliseconds, more than 0 and less than 2,147,483,648',
  (value) => typeof value === 'number' && value > 0 && value < 2 ** 31,
);

const checks: Readonly<Record<keyof OtlpOptions, Check>> = {
  endpoint: expectsSecret('an http or https URL without user name and fragment', isUsableUrl),
  url: expectsSecret('an http or https URL without user name and fragment', isUsableUrl),
  protocol: oneOf('http/protobuf', 'http/json'),
  headers: expectsSecret('names and values as HTTP has them, or a function that makes them', areHeaders),
  compression: oneOf('gzip', 'none'),
  resource: isObject,
  timeoutMs: isTimerDelay,
  retry: optionGroup({
    maxAttempts: isCount,
    initialDelayMs: isTimerDelay,
    maxDelayMs: isTimerDelay,
    maxRetryAfterMs: isTimerDelay,
  }),
  shutdownTimeoutMs: isTimerDelay,
  fetch: isFunction,
  onError: isFunction,
};

/**
 * Checks options against those of all exporters and those of one.
 *
 * @throws TraceError with code `invalid_option` and every fault with its JSON pointer
 */
export function checkOtlpOptions(options: OtlpOptions, own: Readonly<Record<string, Check>>): void {
  checkOptions('export by OTLP', optionGroup({ ...checks, ...own }), options);
}

/** `fetch` takes no URL with a user name, and a fragment never reaches a server. */
function isUsableUrl(value: unknown): boolean {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.hash}` === '';
}

function areHeaders(value: unknown): boolean {
  if (typeof value === 'function') return true;
  if (!isRecord(value)) return false;
  try {
    for (const [name, text] of Object.entries(value)) new Headers([[name, text as string]]);
    return true;
  } catch {
    return false;
  }
}
