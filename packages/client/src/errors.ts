/** The client's own codes. All other codes come from the server (see its reference of errors). */
export type OwnErrorCode =
  /** The caller's signal aborted the call. Its reason is the `cause`. */
  | 'aborted'
  /** The client was closed. */
  | 'closed'
  /** The bytes do not match their content address, or a list its digest. */
  | 'content_mismatch'
  /** An entry of the store was damaged. Emitted, never thrown. */
  | 'damaged_entry'
  /** An argument is invalid: a key, a name, a content address. */
  | 'invalid_argument'
  /** This engine can't compile the module. The engine's error is the `cause`. */
  | 'invalid_module'
  /** An option (named in `option`) is missing or invalid. */
  | 'invalid_option'
  /** A listener threw. Its error is the `cause`. Emitted, never thrown. */
  | 'listener_failed'
  /** The connection failed. */
  | 'network'
  /** No plugin, or none of this name, is bound to the guest key. */
  | 'no_plugin'
  /** The client is offline and the result is not cached. */
  | 'offline'
  /** A call executed too many instructions. */
  | 'out_of_fuel'
  /** A plugin has no publish attestation, or it can't be fetched (see `reason`). */
  | 'provenance_absent'
  /** A plugin's publish attestation is not valid (see `reason`). */
  | 'provenance_failed'
  /** A report of calls, or a part of it, was not accepted. Emitted, never thrown. */
  | 'report_failed'
  /** The server responded with a redirect. The client follows none, since the target would get the token. */
  | 'redirected'
  /** The store can't be read or written. Emitted, never thrown. */
  | 'store_failed'
  /** The server took too long: to respond, between two chunks, or in total. */
  | 'timeout'
  /** The token function threw or returned no token. Its error is the `cause`. */
  | 'token_unavailable'
  /** A response exceeds the limits. */
  | 'too_large'
  /** The response is not from a Tenon server. */
  | 'unexpected_response';

export interface ClientErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly option?: string | undefined;
  readonly reason?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The only error class of this package. `code` is stable: one of the client's own, or the server's (`invalid_token`, `not_found`,
 * `rate_limited`, …). Messages and properties never contain a token or a guest key.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: OwnErrorCode | (string & {});
  /** The HTTP status if there was a response. */
  readonly status: number | undefined;
  /** The server's `retry-after` in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** For `invalid_option`: the option, such as `timeouts.idleMs`. */
  readonly option: string | undefined;
  /** For `provenance_failed` and `provenance_absent`: a `ProvenanceReason`. */
  readonly reason: string | undefined;

  constructor(code: ClientError['code'], message: string, options: ClientErrorOptions = {}) {
    const { status, retryAfterMs, requestId, option, reason, cause } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
    this.option = option;
    this.reason = reason;
  }
}

export function invalidArgument(message: string): ClientError {
  return new ClientError('invalid_argument', message);
}

export function invalidOption(option: string, problem: string): ClientError {
  return new ClientError('invalid_option', `The option \`${option}\` ${problem}`, { option });
}

export function aborted(signal: AbortSignal): ClientError {
  const { reason } = signal;
  return reason instanceof ClientError
    ? reason
    : new ClientError('aborted', 'The call was aborted by its signal', { cause: reason });
}

/** Whether the error is about the state of the server or the network, and not about the request. */
export function isTransient({ code, status }: ClientError): boolean {
  if (status !== undefined) return status >= 500 || status === 429 || status === 408 || status === 425;
  return code === 'network' || code === 'timeout';
}

/** Whether the server refused access: the token is invalid (401), or doesn't allow this (403). */
export function isUnauthorized({ status }: ClientError): boolean {
  return status === 401 || status === 403;
}
