import { isSecret, type PasskeyId } from '@tenon/protocol';
import type { CacheSpec } from '../cache/cache.ts';
import type { ApiKeyRecord, TokenRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { createNetworkSet } from '../http/networks.ts';
import { type Actor, actorCacheTags, requireNotSuspended } from './access.ts';
import { hashSecret } from './secrets.ts';

/** Cached by the secret itself. Parsing and hashing it would be the most costly part of a host's usual request. */
const tokens: CacheSpec<Actor> = {
  name: 'tokens',
  tags: actorCacheTags,
};

const apiKeys: CacheSpec<ApiKeyRecord> = {
  name: 'API keys',
  tags: ({ id, userId, tokenId }) => (tokenId === null ? [id, userId] : [id, userId, tokenId]),
};

/**
 * Authenticates an access token. A text with an invalid format or checksum is rejected without a query.
 *
 * @throws DomainError `invalid_token` if it is unknown, revoked, expired or of another kind; `account_suspended`
 */
export async function authenticateToken(deps: Deps, secret: string): Promise<Actor> {
  const actor = await deps.cache.of(tokens).getOrLoad(secret, () => loadToken(deps, secret));
  if (actor === undefined || actor.expiresAtMs <= deps.clock()) throw invalidToken();
  return actor;
}

async function loadToken(deps: Deps, secret: string): Promise<Actor | undefined> {
  if (!isSecret('accessToken', secret)) return undefined;
  const record = await deps.store.read.tokenByHash(hashSecret(secret));
  if (record === undefined) return undefined;
  requireNotSuspended(record);
  return toActor(record);
}

/**
 * Authenticates an API key.
 *
 * @throws DomainError `invalid_token` if it is unknown, revoked, expired or of another kind; `account_suspended`
 */
export async function authenticateApiKey(deps: Deps, secret: string): Promise<ApiKeyRecord> {
  if (!isSecret('apiKey', secret)) throw invalidToken();
  const secretHash = hashSecret(secret);
  const load = async () => {
    const found = await deps.store.read.apiKeyByHash(secretHash);
    if (found !== undefined) requireNotSuspended(found);
    return found;
  };
  const record = await deps.cache.of(apiKeys).getOrLoad(secretHash, load);
  if (record === undefined || record.expiresAtMs <= deps.clock()) throw invalidToken();
  return record;
}

/** Returns the actor of a token. */
export function toActor({
  id,
  userId,
  scopes,
  appId,
  sessionId,
  expiresAtMs,
  passkeyId,
  ...token
}: TokenRecord & { readonly passkeyId: PasskeyId | null }): Actor {
  const { extensionPointId, pluginName, guestId, networks } = token;
  return {
    tokenId: id,
    userId,
    scopes,
    appId,
    sessionId,
    expiresAtMs,
    extensionPointId,
    pluginName,
    guestId,
    hasPasskey: passkeyId !== null,
    networks: networks === null ? null : createNetworkSet(networks),
  };
}

/** The error for a token that doesn't work. It doesn't say why. */
export function invalidToken(): DomainError {
  return new DomainError(
    'invalid_token',
    'The token is unknown, revoked, expired, restricted to other networks, or of a kind that this request does not accept.',
  );
}
