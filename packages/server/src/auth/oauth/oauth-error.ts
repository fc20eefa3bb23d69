import {
  type ErrorCode,
  errorCodes,
  type OauthError as OauthErrorBody,
  type OauthErrorCode,
  oauthError,
} from '@tenon/protocol';
import type { ErrorFormat, ErrorResponse } from '../../http/http-error.ts';
import { toProblem } from '../../http/problem.ts';
import { OauthError } from './errors.ts';

/**
 * OAuth's form of errors (RFC 6749 §5.2): JSON with `error`, and `error_description` for people. What the specification has no
 * status for (a body that is too large, a rate that is passed) keeps the one that it has everywhere.
 */
export const oauthErrorFormat: ErrorFormat = {
  contentType: 'application/json',
  schema: oauthError,
  describe: (code) => `\`${oauthCodeOf(code)}\`: ${errorCodes[code].title}`,
  toResponse: (error, baseUrl) => (error instanceof OauthError ? ownAnswer(error) : otherAnswer(error, baseUrl)),
};

/** Refused because a client tried to authenticate, which a public one can't (RFC 6749 §5.2, `invalid_client`). */
export class ClientAuthenticationError extends OauthError {
  /** Whether it tried with an `authorization` field: the answer then names the scheme. */
  readonly usedBasic: boolean;

  constructor(usedBasic: boolean) {
    super('invalid_client', 'The client has no secret: send client_id alone, in the body.');
    this.usedBasic = usedBasic;
  }
}

function ownAnswer(error: OauthError): ErrorResponse {
  const isChallenge = error instanceof ClientAuthenticationError && error.usedBasic;
  return {
    status: isChallenge ? 401 : 400,
    code: error.code,
    headers: isChallenge ? { 'www-authenticate': 'Basic realm="tenon"' } : {},
    body: bodyOf(error.code, error.message),
    cause: error.cause,
    isRoutine: error.code === 'authorization_pending' || error.code === 'slow_down',
  };
}

function otherAnswer(error: unknown, baseUrl: string): ErrorResponse {
  const { problem, ...rest } = toProblem(error, baseUrl);
  return { ...rest, body: bodyOf(oauthCodeOf(rest.code), problem.detail) };
}

/** The codes for servers in trouble are the authorization endpoint's (RFC 6749 §4.1.2.1); the token endpoint has none of its own. */
function oauthCodeOf(code: ErrorCode): OauthErrorCode {
  const { status } = errorCodes[code];
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** Descriptions are printable ASCII without quotes and backslashes (RFC 6749 §5.2). */
function bodyOf(error: OauthErrorCode, description: string): OauthErrorBody {
  return { error, error_description: description.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?') };
}
