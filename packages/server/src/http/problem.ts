import { type ErrorCode, errorCodes, type Problem, problem } from '@tenon/protocol';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import { ConflictError, ReadOnlyError, StorageFullError, UnavailableError } from '../db/store.ts';
import { DomainError, TooManyAttemptsError } from './domain-errors.ts';
import { challenge, type ErrorFormat, HttpError } from './http-error.ts';

/** An error response: a problem document (RFC 9457) with a `code`. */
interface ProblemResponse {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly problem: Problem;
  /** The underlying error, for the log only. */
  readonly cause: unknown;
}

export const errorReferencePath = '/reference/errors';

/** Converts an error to a response. Server errors (5xx) get a fixed `detail`, so that internals don't reach the client. */
export function toProblem(error: unknown, baseUrl: string): ProblemResponse {
  const known = asDomainError(error);
  const { status, title } = errorCodes[known.code];
  const document: Problem = {
    type: `${baseUrl}${errorReferencePath}#${known.code}`,
    title,
    status,
    detail: known.message,
    code: known.code,
    ...(known.errors === undefined ? {} : { errors: [...known.errors] }),
  };
  const headers = { ...headersOf(known.code), ...ownHeaders(known) };
  return { status, code: known.code, headers, problem: document, cause: known.cause ?? error };
}

/** The default error format. */
export const problemFormat: ErrorFormat = {
  contentType: 'application/problem+json',
  schema: problem,
  describe: (code) => `\`${code}\`: ${errorCodes[code].title}`,
  toResponse(error, baseUrl) {
    const { problem: body, ...rest } = toProblem(error, baseUrl);
    return { ...rest, body };
  },
};

function ownHeaders(error: DomainError): Readonly<Record<string, string>> {
  if (error instanceof TooManyAttemptsError) return { 'retry-after': String(error.retryAfterSeconds) };
  return error instanceof HttpError ? error.headers : {};
}

function headersOf(code: ErrorCode): Record<string, string> {
  switch (code) {
    case 'missing_credentials':
      return { 'www-authenticate': challenge() };
    case 'invalid_token':
    case 'insufficient_scope':
      return { 'www-authenticate': challenge(code) };
    case 'invalid_credentials':
    case 'not_signed_in':
      return { 'www-authenticate': 'Cookie realm="tenon"' }; // RFC 9110 §15.5.2 requires a challenge; browsers ignore this scheme
    case 'unavailable':
      return { 'retry-after': '5' };
    default:
      return {};
  }
}

const unreadableContent =
  'The stored bytes of this content are missing or damaged. Publishing the same bytes again repairs them.';
const concurrentChange = 'A concurrent request changed the same resource. Read its current state, then try again.';
const readOnly = 'The server accepts no changes: its data is on a read-only file system.';
const busy = 'The server is too busy, or its data is unavailable. Try again shortly.';

/** Converts any error to the error that the client receives. */
function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const convert = (code: ErrorCode, message: string) => new DomainError(code, message, { cause: error });
  if (error instanceof StorageFullError) return convert('storage_full', "The server's storage is full.");
  if (error instanceof DamagedContentError) return convert('content_damaged', unreadableContent);
  if (error instanceof ConflictError) return convert('conflict', concurrentChange);
  if (error instanceof ReadOnlyError) return convert('unavailable', readOnly);
  if (error instanceof UnavailableError) return convert('unavailable', busy);
  return convert('internal', 'The server failed unexpectedly. Its log has the details by request id.');
}

/** The header fields of all error responses, besides the content type. */
export const errorHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};
