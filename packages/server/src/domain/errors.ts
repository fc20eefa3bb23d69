import type { ErrorCode } from '@tenon/protocol';

/** One fault in a request's body: where (a JSON Pointer, RFC 6901) and what. */
export interface FieldFault {
  readonly pointer: string;
  readonly detail: string;
}

/**
 * What a use case throws when it can't be done for a reason that the asker may know. `code` is one of the protocol's error
 * codes; `message` is for people and says what was wrong and what was expected.
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

/**
 * The one answer for what isn't there and for what the asker may not see, so that the two can't be told apart.
 *
 * @param what the kind of thing in the field's words, never its id
 */
export function notFound(what: string): DomainError {
  return new DomainError('not_found', `There is no such ${what}, or it is not yours to see.`);
}

/** A body whose form is right but one of whose fields holds what it can't hold. */
export function invalidField(pointer: string, detail: string): DomainError {
  return new DomainError('invalid_field', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}
