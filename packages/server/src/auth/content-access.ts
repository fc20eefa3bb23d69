import { type ContentAddress, isContentAddress } from '@tenon/protocol';
import type { CacheSpec } from '../cache/cache.ts';
import { allContentsTag, type CacheTag, readableContentsTag } from '../cache/cache-tag.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { type Actor, actorCacheTags, passkeyRequired, requireScope } from './access.ts';
import { isRestricted } from './token-restriction.ts';

/** Cached by {@link readableKey}. Only permissions are cached, not denials. */
const readable: CacheSpec<true> = {
  name: 'readable content',
  tags(_mayRead, key) {
    const userId = key.slice(0, key.indexOf(' ')); // the first part of the key
    return [userId, readableContentsTag(userId), allContentsTag];
  },
};

const readableKey = ({ userId, appId, hasPasskey }: Actor, address: ContentAddress): string =>
  `${userId} ${appId} ${hasPasskey} ${address}`;

/** The cache tags of what an actor may read. */
export function contentCacheTags(actor: Actor): readonly CacheTag[] {
  return [...actorCacheTags(actor), readableContentsTag(actor.userId), allContentsTag];
}

/**
 * Authorizes an actor to read bytes by their content address. Members may read the bytes of all versions in their application,
 * guests those that they published there. Tokens that are restricted to a plugin or a guest may read none. Bytes of yanked versions stay readable, because hosts may have an older binding list.
 *
 * @throws DomainError `not_found` (also for bytes that the actor may not read), otherwise `passkey_required`, `insufficient_scope`
 */
export async function authorizeContent(deps: Deps, actor: Actor, address: string): Promise<ContentAddress> {
  if (!isContentAddress(address) || isRestricted(actor)) throw notFound('content');
  const { read } = deps.store;
  const { userId, hasPasskey } = actor;
  const appId = actor.appId ?? undefined;
  const load = async () => (await read.mayReadContent(userId, address, appId, hasPasskey)) || undefined;
  const mayRead = await deps.cache.of(readable).getOrLoad(readableKey(actor, address), load);
  if (!mayRead) {
    const needsPasskey = !hasPasskey && (await read.mayReadContent(userId, address, appId));
    throw needsPasskey ? passkeyRequired() : notFound('content');
  }
  requireScope(actor, 'read');
  return address;
}
