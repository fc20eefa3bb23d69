import type { TokenScope } from '@tenon/protocol';
import { invalidField } from '../../http/domain-errors.ts';
import { OauthError } from './errors.ts';

/** All scopes, in display order. */
export const allScopes = ['read', 'publish', 'manage'] as const satisfies readonly TokenScope[];

/** The scopes of a login that requests none. */
const defaultScopes = ['read', 'publish'] as const satisfies readonly TokenScope[];

/**
 * Parses the `scope` parameter (RFC 6749 §3.3): names separated by spaces.
 *
 * @throws OauthError `invalid_scope`
 */
export function parseScopes(text: string | undefined): readonly TokenScope[] {
  const names = new Set((text ?? '').split(' ').filter((name) => name !== ''));
  if (names.size === 0) return defaultScopes;
  const scopes = allScopes.filter((scope) => names.delete(scope));
  if (names.size > 0) throw new OauthError('invalid_scope', `The scopes must be among: ${allScopes.join(', ')}.`);
  return scopes;
}

/**
 * Checks the scopes that a user grants to a login.
 *
 * @param requested the scopes that the login requested
 * @param granted the scopes that the user grants. Default: all requested scopes
 * @throws DomainError `invalid_field` for a scope that was not requested
 */
export function narrowScopes(
  requested: readonly TokenScope[],
  granted: readonly TokenScope[] = requested,
): readonly TokenScope[] {
  if (granted.some((scope) => !requested.includes(scope))) {
    throw invalidField('/scopes', `must be among the requested scopes: ${requested.join(', ')}`);
  }
  return requested.filter((scope) => granted.includes(scope));
}
