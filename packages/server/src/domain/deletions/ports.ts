import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import type { PluginKey } from '../records.ts';

/** What is deleted with everything that belongs to it. */
export type DeletionScope = PluginKey | { readonly extensionPointId: ExtensionPointId } | { readonly appId: AppId };

export interface DeletionQueries {
  /** Whether more than so many rows of some table belong to it, or to the plugins of a user. */
  hasMoreRows(scope: DeletionScope | { readonly userId: UserId }, limit: number): Promise<boolean>;
  /** The extension points and applications that are marked as deleted. */
  pendingDeletions(limit: number): Promise<Exclude<DeletionScope, PluginKey>[]>;
}

/** What is marked as deleted is found by no query; its rows go in further transactions. */
export interface DeletionMutations {
  /** Also notes that its bindings are pending: `finishRebind()` deletes it once they are moved. */
  markPluginDeleted(key: PluginKey, atMs: number): Promise<void>;
  /** Marks all plugins of a user, likewise. @returns these plugins */
  markPluginsDeleted(userId: UserId, atMs: number): Promise<PluginKey[]>;
  markExtensionPointDeleted(id: ExtensionPointId, atMs: number): Promise<void>;
  /** Deletes tokens that are restricted to the application at once. */
  markAppDeleted(id: AppId, atMs: number): Promise<void>;
  /** Deletes so many of the rows that belong to something marked as deleted. @returns whether none is left */
  purgeRows(scope: DeletionScope, limit: number): Promise<boolean>;
  /** Deletes what is marked as deleted itself, once its rows are gone. */
  forgetDeleted(scope: DeletionScope): Promise<void>;
}
