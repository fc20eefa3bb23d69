/** What can go wrong on this side. Whatever else a `code` says comes from the server (its reference of errors lists those). */
export type OwnErrorCode =
  /** The caller's signal ended the call; its reason is the `cause`. */
  | 'aborted'
  /** The client was closed. */
  | 'closed'
  /** The bytes are not those that the content address names, or that the list came with the digest of. */
  | 'content_mismatch'
  /** Something kept in the store was damaged. Told, never thrown. */
  | 'damaged_entry'
  /** A call's argument can be none: a guest key, a name, an address. */
  | 'invalid_argument'
  /** This engine can't compile the module; the engine's error is the `cause`. */
  | 'invalid_module'
  /** An option of `createClient` (named in `option`) is missing or wrong. */
  | 'invalid_option'
  /** A listener threw; what it threw is the `cause`. Told, never thrown. */
  | 'listener_failed'
  /** There is no connection, or it broke. */
  | 'network'
  /** Nothing is bound to the guest key, or not by this name. */
  | 'no_plugin'
  /** The client works offline, and this isn't kept. */
  | 'offline'
  /** The server answered with a redirect, which would carry the token elsewhere. */
  | 'redirected'
  /** The store can't be read or written. Told, never thrown. */
  | 'store_failed'
  /** The server took too long: to begin its answer, between two pieces of it, or in all. */
  | 'timeout'
  /** The token function threw, or gave none; what it threw is the `cause`. */
  | 'token_unavailable'
  /** An answer has more bytes than the limits allow. */
  | 'too_large'
  /** The answer is not what a Tenon server says. */
  | 'unexpected_answer';

export interface ClientErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly option?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The one error of this package. `code` is stable: one of our own, or the server's (`invalid_token`, `not_found`, `rate_limited`, …).
 * Neither message nor properties hold a token or a guest key.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: OwnErrorCode | (string & {});
  /** The HTTP status, where the server answered. */
  readonly status: number | undefined;
  /** How long the server wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's name for the request, to find it in its log. */
  readonly requestId: string | undefined;
  /** The option at fault, for `invalid_option`: `timeouts.idleMs`. */
  readonly option: string | undefined;

  constructor(code: ClientError['code'], message: string, options: ClientErrorOptions = {}) {
    const { status, retryAfterMs, requestId, option, cause } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
    this.option = option;
  }
}

export function invalidArgument(message: string): ClientError {
  return new ClientError('invalid_argument', message);
}

export function aborted(signal: AbortSignal): ClientError {
  const { reason } = signal;
  return reason instanceof ClientError
    ? reason
    : new ClientError('aborted', 'The call was ended by its signal', { cause: reason });
}

/** Whether an error says something of the server's or the network's state, and not of what was asked. */
export function isTrouble({ code, status }: ClientError): boolean {
  if (status !== undefined) return status >= 500 || status === 429 || status === 408 || status === 425;
  return code === 'network' || code === 'timeout';
}
