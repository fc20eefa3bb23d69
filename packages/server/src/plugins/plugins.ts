import { isId, isPluginName, type UserId } from '@tenon/protocol';
import { type Actor, type ExtensionPointAccess, isMember } from '../auth/access.ts';
import { type PageOf, readLimited, readPage, readRelatedRows } from '../db/paging.ts';
import type { BindingRecord, PluginKey, PluginRecord, VersionRecord } from '../db/records.ts';
import type { Page, Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';

/** A plugin with its newest version and its bindings, one for each guest under which it has its name. */
export interface PluginWithBindings {
  readonly plugin: PluginRecord;
  readonly bindings: readonly BindingRecord[];
  /** Whether `bindings` is cut off. */
  readonly hasMoreBindings: boolean;
}

/** Lists an extension point's plugins. A member sees all of them, a guest only its own. */
export async function listPlugins(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  page: Page,
): Promise<PageOf<PluginWithBindings>> {
  const { read } = deps.store;
  const publisher = isMember(access) ? undefined : actor.userId;
  const { items, next, rows, hasMoreRows } = await readRelatedRows(
    await readPage(page, pluginCursor<PluginRecord>, (range) =>
      read.plugins(access.extensionPoint.id, publisher, range),
    ),
    {
      cursorOf: pluginCursor,
      keyOf: pluginCursor,
      keyOfRow: pluginCursor<BindingRecord>,
      load: (plugins, limit) => read.bindingsOfPlugins(plugins, limit),
    },
  );
  const withBindings = (plugin: PluginRecord): PluginWithBindings => {
    return { plugin, bindings: rows.get(pluginCursor(plugin)) ?? [], hasMoreBindings: hasMoreRows };
  };
  return { items: items.map(withBindings), next };
}

/** @throws DomainError `not_found`, also when a guest requests another user's plugin */
export async function readPlugin(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
): Promise<PluginWithBindings> {
  const { read } = deps.store;
  const plugin = await findPlugin(read, actor, access, target);
  return readBindingsOf(read, plugin);
}

/** The parameters of a request path that identify a plugin. They are not validated yet. */
export interface PluginTarget {
  readonly userId: string;
  readonly name: string;
}

/**
 * Finds the plugin of a request path. A member finds every plugin, a guest only its own.
 *
 * @throws DomainError `not_found`
 */
export async function findPlugin(
  read: Pick<Queries, 'plugin'>,
  actor: Actor,
  access: ExtensionPointAccess,
  { userId, name }: PluginTarget,
): Promise<PluginRecord> {
  const mayRead = isId('user', userId) && isPluginName(name) && (isMember(access) || userId === actor.userId);
  const plugin = mayRead ? await read.plugin({ extensionPointId: access.extensionPoint.id, userId, name }) : undefined;
  if (plugin === undefined) throw notFound('plugin');
  return plugin;
}

/**
 * Finds one of a plugin's versions.
 *
 * @param number the text of the path parameter
 * @throws DomainError `not_found`
 */
export async function findVersion(
  read: Pick<Queries, 'version'>,
  plugin: PluginKey,
  number: string,
): Promise<VersionRecord> {
  const version = /^[1-9]\d{0,14}$/.test(number) ? await read.version(plugin, Number(number)) : undefined;
  if (version === undefined) throw notFound('version');
  return version;
}

export async function readPluginWithBindings(
  read: Pick<Queries, 'plugin' | 'bindingsOfPlugins'>,
  key: PluginKey,
): Promise<PluginWithBindings> {
  const plugin = await read.plugin(key);
  if (plugin === undefined) throw notFound('plugin');
  return readBindingsOf(read, plugin);
}

async function readBindingsOf(
  read: Pick<Queries, 'bindingsOfPlugins'>,
  plugin: PluginRecord,
): Promise<PluginWithBindings> {
  const { rows, hasMore } = await readLimited((limit) => read.bindingsOfPlugins([plugin], limit));
  return { plugin, bindings: rows, hasMoreBindings: hasMore };
}

function pluginCursor<T extends { readonly userId: UserId; readonly name: string }>(plugin: T): string {
  return `${plugin.userId}/${plugin.name}`;
}
