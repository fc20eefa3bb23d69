import type { ErrorCode } from '@tenon/protocol';
import type { TSchema } from 'typebox';
import { DomainError, type FieldFault } from './domain-errors.ts';

/** An error with header fields for its response. */
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

/** Returns an error that asks the client to retry. */
export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): HttpError {
  return new HttpError('unavailable', message, { 'retry-after': String(retryAfterSeconds) }, { cause });
}

/** Returns a challenge (RFC 6750 §3), without an error code if the request has no credentials. */
export function challenge(error?: 'invalid_token' | 'insufficient_scope'): string {
  return error === undefined ? 'Bearer realm="tenon"' : `Bearer realm="tenon", error="${error}"`;
}

export interface ErrorResponse {
  readonly status: number;
  /** For the log. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** For the log only. */
  readonly cause: unknown;
  /** Whether the error is expected, and logged at level `debug`. Default: by its status. */
  readonly isRoutine?: boolean;
}

/** The format of a route's error responses. */
export interface ErrorFormat {
  readonly contentType: string;
  /** The schema of the body, for OpenAPI. */
  readonly schema: TSchema;
  /** Describes an error code in Markdown, for OpenAPI. */
  describe(code: ErrorCode): string;
  toResponse(error: unknown, baseUrl: string): ErrorResponse;
}
