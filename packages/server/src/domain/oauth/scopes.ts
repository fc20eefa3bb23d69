import type { TokenScope } from '@tenon/protocol';
import { invalidField } from '../errors.ts';
import { OauthError } from './errors.ts';

/** Every scope, in the order in which they are shown. */
export const allScopes = ['read', 'publish', 'manage'] as const satisfies readonly TokenScope[];

/** What a login asks for when it says nothing. */
const defaultScopes = ['read', 'publish'] as const satisfies readonly TokenScope[];

/**
 * Reads the `scope` parameter (RFC 6749 §3.3): names with spaces between them.
 *
 * @throws OauthError `invalid_scope`
 */
export function parseScopes(text: string | undefined): readonly TokenScope[] {
  const names = new Set((text ?? '').split(' ').filter((name) => name !== ''));
  if (names.size === 0) return defaultScopes;
  const scopes = allScopes.filter((scope) => names.delete(scope));
  if (names.size > 0) throw new OauthError('invalid_scope', `The scopes there are: ${allScopes.join(', ')}.`);
  return scopes;
}

/**
 * What is granted: all that was asked for, or a part of it.
 *
 * @throws DomainError `invalid_field` for more than was asked for
 */
export function narrowScopes(
  requestable: readonly TokenScope[],
  requested: readonly TokenScope[] = requestable,
): readonly TokenScope[] {
  if (requested.some((scope) => !requestable.includes(scope))) {
    throw invalidField('/scopes', `only these were asked for: ${requestable.join(', ')}`);
  }
  return requestable.filter((scope) => requested.includes(scope));
}
