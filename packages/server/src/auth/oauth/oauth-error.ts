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
 * OAuth's error format (RFC 6749 §5.2): JSON with `error` and `error_description`. Errors for which the RFC has no status, such as a
 * too large body, have the same status as elsewhere.
 */
export const oauthErrorFormat: ErrorFormat = {
  contentType: 'application/json',
  schema: oauthError,
  describe: (code) => `\`${oauthCodeOf(code)}\`: ${errorCodes[code].title}`,
  toResponse: (error, baseUrl) => (error instanceof OauthError ? toOauthResponse(error) : fromProblem(error, baseUrl)),
};

/** A client tried to authenticate, but it is public (RFC 6749 §5.2, `invalid_client`). */
export class ClientAuthenticationError extends OauthError {
  /** Whether it sent an `authorization` field. The response must then name the scheme. */
  readonly usedBasic: boolean;

  constructor(usedBasic: boolean) {
    super('invalid_client', 'The client has no secret: send client_id alone, in the body.');
    this.usedBasic = usedBasic;
  }
}

function toOauthResponse(error: OauthError): ErrorResponse {
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

function fromProblem(error: unknown, baseUrl: string): ErrorResponse {
  const { problem, ...rest } = toProblem(error, baseUrl);
  return { ...rest, body: bodyOf(oauthCodeOf(rest.code), problem.detail) };
}

/** For server errors, it uses the codes of the authorization endpoint (RFC 6749 §4.1.2.1), because the token endpoint has no codes for them. */
function oauthCodeOf(code: ErrorCode): OauthErrorCode {
  const { status } = errorCodes[code];
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** Replaces characters that a description must not contain (RFC 6749 §5.2). */
function bodyOf(error: OauthErrorCode, description: string): OauthErrorBody {
  return { error, error_description: description.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?') };
}
