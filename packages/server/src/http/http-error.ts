import type { ErrorCode } from '@tenon/protocol';
import type { TSchema } from 'typebox';
import { DomainError, type FieldFault } from './domain-errors.ts';

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

export interface ErrorResponse {
  readonly status: number;
  /** What the log calls it. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** What is behind it; for the log alone. */
  readonly cause: unknown;
  /** Whether it is part of what goes well: then the log tells it only to those who debug. */
  readonly isRoutine?: boolean;
}

/** How a route puts its errors: the media type and the members of their bodies. */
export interface ErrorFormat {
  readonly contentType: string;
  /** Of the bodies, for the description of the interface. */
  readonly schema: TSchema;
  /** How one of the service's errors is described in this form, in a few words of Markdown. */
  describe(code: ErrorCode): string;
  toResponse(error: unknown, baseUrl: string): ErrorResponse;
}
