import type { OauthErrorCode } from '@tenon/protocol';

/**
 * An error of the OAuth endpoints. `code` is one of RFC 6749 §5.2, RFC 7009 §2.2.1 and RFC 8628 §3.5. `message` is for the developer of
 * the client, and must not contain values from the request.
 */
export class OauthError extends Error {
  override readonly name: string = 'OauthError';
  readonly code: OauthErrorCode;

  constructor(code: OauthErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws OauthError `invalid_request` for a missing parameter */
export function requireParameter(name: string, value: string | undefined): string {
  if (value === undefined) throw new OauthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}
