import { type ErrorCode, errorCodes, type OciErrorBody, type OciErrorCode, ociError } from '@tenon/protocol';
import type { DomainError } from '../http/domain-errors.ts';
import { type ErrorFormat, HttpError } from '../http/http-error.ts';
import { toProblem } from '../http/problem.ts';

/** An error with a code of OCI's. */
export class OciError extends HttpError {
  readonly ociCode: OciErrorCode;

  constructor(
    code: ErrorCode,
    ociCode: OciErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    options: { cause?: unknown } = {},
  ) {
    super(code, message, headers, options);
    this.ociCode = ociCode;
  }
}

export const tokenPath = '/v2/token';

/** A missing repository, and one that the caller may not see. */
const unknownName = 'There is no such repository, or you are not allowed to see it.';

/** OCI's error format: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#error-codes */
export const ociErrorFormat: ErrorFormat = {
  contentType: 'application/json',
  schema: ociError,
  describe: (code) => `\`${ociCodeOf(code)}\`: ${errorCodes[code].title}`,
  toResponse(error, baseUrl) {
    const { problem, headers, ...rest } = toProblem(error, baseUrl);
    const own = error instanceof OciError ? error : undefined;
    const code = own?.ociCode ?? ociCodeOf(rest.code);
    // One message for whatever part of the name is unknown.
    const message = code === 'NAME_UNKNOWN' ? unknownName : problem.detail;
    return {
      ...rest,
      headers: { ...headers, ...(own === undefined ? challengeOf(rest.status, rest.code, baseUrl) : own.headers) },
      body: {
        errors: [{ code, message, detail: { code: rest.code, ...(problem.errors && { errors: problem.errors }) } }],
      } satisfies OciErrorBody,
    };
  },
};

/** The challenge that leads a client to the token endpoint: https://distribution.github.io/distribution/spec/auth/token/ */
function challengeOf(status: number, code: ErrorCode, baseUrl: string): Readonly<Record<string, string>> {
  if (status !== 401 && code !== 'insufficient_scope') return {};
  const challenge = `Bearer realm="${baseUrl}${tokenPath}",service="${new URL(baseUrl).host}"`;
  return { 'www-authenticate': code === 'missing_credentials' ? challenge : `${challenge},error="${code}"` };
}

function ociCodeOf(code: ErrorCode): OciErrorCode {
  const { status } = errorCodes[code];
  return codesOfStatus[status] ?? 'UNSUPPORTED';
}

/** A publish fails with 409 or 422 when the manifest is pushed. */
const codesOfStatus: Readonly<Record<number, OciErrorCode>> = {
  401: 'UNAUTHORIZED',
  403: 'DENIED',
  404: 'NAME_UNKNOWN',
  409: 'DENIED',
  413: 'SIZE_INVALID',
  422: 'MANIFEST_INVALID',
  429: 'TOOMANYREQUESTS',
};

export function unknownManifest(): DomainError {
  return new OciError('not_found', 'MANIFEST_UNKNOWN', 'The repository has no such manifest.');
}

export function unknownBlob(): DomainError {
  return new OciError('not_found', 'BLOB_UNKNOWN', 'The repository has no such blob.');
}

export function invalidDigest(): DomainError {
  return new OciError('invalid_request', 'DIGEST_INVALID', 'The digest must be "sha256:" and 64 hexadecimal digits.');
}

export function unknownUpload(): DomainError {
  return new OciError('not_found', 'BLOB_UPLOAD_UNKNOWN', 'There is no such upload. It may have expired.');
}

/** The error for a blob whose bytes have another digest. */
export function wrongDigest(): DomainError {
  return new OciError('invalid_request', 'DIGEST_INVALID', 'The uploaded bytes have another digest.');
}

/** The error for a manifest that the server refuses, whatever the module is. */
export function invalidManifest(message: string): DomainError {
  return new OciError('invalid_request', 'MANIFEST_INVALID', message);
}
