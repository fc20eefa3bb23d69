import type { ErrorCode, Problem } from '@tenon/protocol';

/** The code of an error response, or `unreachable`. */
export type ApiErrorCode = ErrorCode | 'unreachable';

/** One field at fault: `pointer` is a JSON Pointer into the body that was sent. */
export type FieldFault = NonNullable<Problem['errors']>[number];

/** An error response of the server. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly title: string;
  readonly errors: readonly FieldFault[];
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** The delay before a retry, if the server sent one. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    problem: Pick<Problem, 'title' | 'status' | 'detail' | 'errors'> & { readonly code: ApiErrorCode },
    about: {
      readonly requestId?: string | undefined;
      readonly retryAfterSeconds?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(problem.detail, { cause: about.cause });
    this.code = problem.code;
    this.status = problem.status;
    this.title = problem.title;
    this.errors = problem.errors ?? [];
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}

/** Whether an error is the server's, with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly ApiErrorCode[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code);
}

/** Whether something was given up on purpose: by leaving the page, or by closing the dialog that asked for the password. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The error of a request without a response. */
export function unreachable(cause: unknown): ApiError {
  return new ApiError(
    {
      code: 'unreachable',
      status: 0,
      title: 'The server is not responding',
      detail: 'Check your connection and try again.',
    },
    { cause },
  );
}

/** Makes an error of an answer that is one. A proxy in between may have answered with something that is no problem document. */
export async function toApiError(response: Response): Promise<ApiError> {
  return apiErrorOf(response.status, response.headers, await response.text().catch(() => ''));
}

/** @param body the text that was answered */
export function apiErrorOf(status: number, headers: Pick<Headers, 'get'>, body: string): ApiError {
  const retryAfter = Number.parseInt(headers.get('retry-after') ?? '', 10);
  const about = {
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isNaN(retryAfter) ? undefined : retryAfter,
  };
  const problem = parseProblem(body);
  if (problem !== undefined) return new ApiError({ ...problem, code: problem.code as ErrorCode }, about);
  return new ApiError(
    {
      code: status >= 500 ? 'unavailable' : 'invalid_request',
      status,
      title: 'The request failed',
      detail: `The server answered with status ${status}and no error message.`,
    },
    about,
  );
}

function parseProblem(body: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isProblem = typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;
    return isProblem ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}
