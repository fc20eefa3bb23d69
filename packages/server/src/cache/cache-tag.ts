import { type AppId, type ExtensionPointId, pluginId, type UserId } from '@tenon/protocol';

/**
 * Connects cached values with the changes that invalidate them: the id of a stored object, a user's membership of an application, a binding
 * list, or the access to contents. A cached value has tags, and a mutation that invalidates one of them makes it stale.
 */
export type CacheTag = string;

/** The binding list of a guest key at an extension point. */
export function listTag(extensionPointId: ExtensionPointId, guestKey: string): CacheTag {
  return `${extensionPointId} ${guestKey}`;
}

/** A user's membership of an application: the role, and the guests that the user holds. */
export function membershipTag(userId: UserId, appId: AppId): CacheTag {
  return `${userId} ${appId}`;
}

/** Which contents a user may read by the user's roles, in all applications. */
export function readableContentsTag(userId: string): CacheTag {
  return `${userId} contents`;
}

/** Which versions exist, and under which guests: one tag for all contents, because deletions are rare. */
export const allContentsTag: CacheTag = 'contents';

/** Which versions of a plugin exist, and the documents about them. */
export function pluginDocumentsTag({
  extensionPointId,
  userId,
  name,
}: {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly name: string;
}): CacheTag {
  return pluginId(extensionPointId, userId, name);
}
