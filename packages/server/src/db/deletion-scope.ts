import type { AppId, ExtensionPointId } from '@tenon/protocol';
import type { PluginKey } from './records.ts';

/** What is deleted with everything that belongs to it. */
export type DeletionScope = PluginKey | { readonly extensionPointId: ExtensionPointId } | { readonly appId: AppId };

/** How many rows of a table one transaction deletes. It is limited because other writers wait for the transaction. */
export const deleteBatchSize = 1000;
