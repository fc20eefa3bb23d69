import type { ErrorCode } from '@tenon/protocol';
import { DomainError, type FieldFault } from '../domain/errors.ts';

/** An error that is HTTP's own business: it carries header fields that its answer needs. */
export class HttpError extends DomainError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    options: { cause?: unknown; errors?: readonly FieldFault[] } = {},
  ) {
    super(code, message, options);
    this.headers = headers;
  }
}

/** The service can't do this now; the client may come back after so many seconds. */
export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): HttpError {
  return new HttpError('unavailable', message, { 'retry-after': String(retryAfterSeconds) }, { cause });
}

/** A challenge as RFC 6750 §3 has it: without an error code where no credentials came. */
export function challenge(error?: 'invalid_token' | 'insufficient_scope'): string {
  return error === undefined ? 'Bearer realm="tenon"' : `Bearer realm="tenon", error="${error}"`;
}
