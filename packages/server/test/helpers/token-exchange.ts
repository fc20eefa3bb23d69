import { tokenExchangeGrantType, tokenTypes } from '@tenon/protocol';
import { encode } from './browser.ts';
import type { TestService } from './service.ts';

/** Asks for a token of trusted publishing. */
export function exchangeToken(service: TestService, token: string, fields: Record<string, string> = {}, from?: string) {
  const body = encode({
    grant_type: tokenExchangeGrantType,
    subject_token: token,
    subject_token_type: tokenTypes.idToken,
    ...fields,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(from && { 'x-forwarded-for': from }) };
  return service.call('POST', '/oauth/token', { body, headers });
}
