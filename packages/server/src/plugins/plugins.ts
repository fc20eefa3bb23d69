import { isId, isPluginName } from '@tenon/protocol';
import { type Actor, type AppAccess, type ExtensionPointAccess, isMember } from '../auth/access.ts';
import { naturalKey } from '../db/natural-key.ts';
import { cursorOfValues } from '../db/page-queries.ts';
import { type PageOf, readLimited, readPage, readRelatedRows } from '../db/paging.ts';
import type { PluginKey, PluginRecord, VersionRecord } from '../db/records.ts';
import type {
  AppPlugin,
  BindingSort,
  PluginBinding,
  PluginSearch,
  PluginSort,
  Queries,
  SortedPage,
} from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { requirePublisherNotBlocked } from './blocked-publishers.ts';
import { pluginCursor } from './plugin-list-queries.ts';
import type { SimilarPlugin } from './similar-name-queries.ts';

/** A plugin with its newest version and its bindings, one for each guest under which it has its name. */
export interface PluginWithBindings<P extends PluginRecord = PluginRecord> {
  readonly plugin: P;
  readonly publisherName: string;
  readonly bindings: readonly PluginBinding[];
  /** Whether `bindings` is cut off. */
  readonly hasMoreBindings: boolean;
  /** The plugins of other publishers with similar names, for the application's team; absent in lists. */
  readonly similar?: readonly SimilarPlugin[];
}

type PluginFilter = Pick<PluginSearch, 'text' | 'name' | 'state' | 'isBound'> & {
  readonly extensionPointId?: string | undefined;
  readonly userId?: string | undefined;
};

/** Lists an extension point's plugins. A member sees all of them, a guest only its own, and no guest keys. */
export function listPlugins(
  { store: { read } }: Deps,
  access: ExtensionPointAccess,
  page: SortedPage<PluginSort>,
  filter: PluginFilter,
): Promise<PageOf<PluginWithBindings>> {
  const { id } = access.extensionPoint;
  const search = searchFor(access, filter);
  return withBindings(
    read,
    page,
    (range) => read.plugins(id, range, search),
    () => read.countPluginsFound({ extensionPointId: id }, search),
  );
}

/** As {@link listPlugins}, of all extension points of an application. */
export function listPluginsOfApp(
  { store: { read } }: Deps,
  access: AppAccess,
  page: SortedPage<PluginSort>,
  filter: PluginFilter,
): Promise<PageOf<PluginWithBindings<AppPlugin>>> {
  const { id } = access.app;
  const search = searchFor(access, filter);
  return withBindings(
    read,
    page,
    (range) => read.pluginsOfApp(id, range, search),
    () => read.countPluginsFound({ appId: id }, search),
  );
}

function searchFor(access: AppAccess, filter: PluginFilter): PluginSearch {
  const search = filter as PluginSearch; // malformed ids match nothing
  if (isMember(access)) return { ...search, searchesGuestKeys: true };
  return { ...search, userId: access.actor.userId };
}

async function withBindings<P extends PluginRecord>(
  read: Queries,
  page: SortedPage<PluginSort>,
  list: (range: SortedPage<PluginSort> & { readonly limit: number }) => Promise<P[]>,
  count: () => Promise<number>,
): Promise<PageOf<PluginWithBindings<P>>> {
  const cursorOf = (plugin: P): string => pluginCursor(plugin, page.sort);
  const { items, rows, hasMoreRows, ...found } = await readRelatedRows(await readPage(page, cursorOf, list, count), {
    cursorOf,
    keyOf: pluginKeyText,
    keyOfRow: pluginKeyText<PluginBinding>,
    load: (plugins, limit) => read.bindingsOfPlugins(plugins, limit),
  });
  const names = await read.userNames(items.map((plugin) => plugin.userId));
  return {
    ...found,
    items: items.map((plugin) => ({
      plugin,
      publisherName: names.get(plugin.userId) ?? '',
      bindings: rows.get(pluginKeyText(plugin)) ?? [],
      hasMoreBindings: hasMoreRows,
    })),
  };
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

/**
 * Lists a plugin's bindings. Only members may use guest keys, which guests must not learn from the results or their order.
 *
 * @throws DomainError `not_found`, `forbidden`
 */
export async function listBindings(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  page: SortedPage<BindingSort>,
  text?: string,
): Promise<PageOf<PluginBinding>> {
  const { read } = deps.store;
  const plugin = await findPlugin(read, actor, access, target);
  const isByKey = page.sort?.endsWith('guestKey') === true;
  if ((isByKey || text !== undefined) && !isMember(access)) {
    throw new DomainError('forbidden', 'Only members of the application can search and sort by guest key.');
  }
  return readPage(
    page,
    ({ guestId, guestKey }: PluginBinding) => (isByKey ? cursorOfValues(naturalKey(guestKey), guestId) : guestId),
    (range) => read.bindingsOfPlugin(plugin, range, text),
    () => read.countBindingsOfPlugin(plugin, text),
  );
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
  read: Pick<Queries, 'plugin' | 'userNames' | 'bindingsOfPlugins' | 'similarPlugins'>,
  key: PluginKey,
): Promise<PluginWithBindings> {
  const plugin = await read.plugin(key);
  if (plugin === undefined) throw notFound('plugin');
  return readBindingsOf(read, plugin);
}

async function readBindingsOf(
  read: Pick<Queries, 'userNames' | 'bindingsOfPlugins' | 'similarPlugins'>,
  plugin: PluginRecord,
): Promise<PluginWithBindings> {
  const { rows, hasMore } = await readLimited((limit) => read.bindingsOfPlugins([plugin], limit));
  const names = await read.userNames([plugin.userId]);
  const publisherName = names.get(plugin.userId) ?? '';
  const similar = await read.similarPlugins([plugin]);
  return { plugin, publisherName, bindings: rows, hasMoreBindings: hasMore, similar };
}

/** Sorts as the database sorts a plugin's key. */
function pluginKeyText<T extends PluginKey>(plugin: T): string {
  return `${plugin.extensionPointId}/${plugin.userId}/${plugin.name}`;
}

/** @throws DomainError `plugin_blocked`, `publisher_blocked` */
export function requireNotBlocked(plugin: PluginRecord | undefined): void {
  requirePublisherNotBlocked(plugin?.publisherBlock);
  if (plugin?.block == null) return;
  throw new DomainError(
    'plugin_blocked',
    `The application's team has blocked the plugin, so no version of it can be published. Their reason: ${plugin.block.reason}`,
  );
}
