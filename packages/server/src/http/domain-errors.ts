import type { ErrorCode } from '@tenon/protocol';

/** An invalid field of a request's body. */
export interface FieldFault {
  /** A JSON Pointer (RFC 6901) to the field. */
  readonly pointer: string;
  readonly detail: string;
}

/**
 * An error that the server reports to the client. `code` is one of the protocol's error codes. `message` says what failed and what
 * is expected.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldFault[] | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; errors?: readonly FieldFault[] } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
  }
}

/** Too many attempts, or too many requests of a kind. */
export class TooManyAttemptsError extends DomainError {
  readonly retryAfterSeconds: number;

  /** @param reason a sentence that says what was done too often */
  constructor(reason: string, retryAfterSeconds: number) {
    const wait = `Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`;
    super('rate_limited', `${reason} ${wait}`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The error for a missing resource and for one that the actor may not see. The two must be indistinguishable.
 *
 * @param kind the kind of resource, never its id
 */
export function notFound(kind: string): DomainError {
  return new DomainError('not_found', `There is no such ${kind}, or you are not allowed to see it.`);
}

/** The error for a field with an invalid value. */
export function invalidField(pointer: string, detail: string): DomainError {
  return new DomainError('invalid_field', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

/** Whether a request's `if-match` allows a change of the stored state. Evaluated in the transaction that makes the change. */
export type Precondition<State> = (present: State) => boolean;

/** @throws DomainError `precondition_failed` if the request has a precondition that is false */
export function requirePrecondition<State>(precondition: Precondition<State> | undefined, present: State): void {
  if (precondition === undefined || precondition(present)) return;
  throw new DomainError(
    'precondition_failed',
    'The resource has changed since it was read: "if-match" has another entity tag.',
  );
}
