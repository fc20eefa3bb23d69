import { isId, isPluginName, type UserId } from '@tenon/protocol';
import { type Actor, type ExtensionPointAccess, isMember } from './access.ts';
import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import { type PageOf, readLimited, readPage, readRelatedRows } from './paging.ts';
import type { Page, Queries } from './ports.ts';
import type { BindingRecord, PluginKey, PluginRecord, VersionRecord } from './records.ts';

/** A plugin with its newest version, and its claims to its name: what is bound by each. */
export interface PluginWithBindings {
  readonly plugin: PluginRecord;
  readonly bindings: readonly BindingRecord[];
  /** Whether there are more claims than these. */
  readonly hasMoreBindings: boolean;
}

/** An extension point's plugins: all of them for a member, the actor's own for a guest. */
export async function listPlugins(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  page: Page,
): Promise<PageOf<PluginWithBindings>> {
  const { read } = context.store;
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
  const withTheirs = (plugin: PluginRecord): PluginWithBindings => {
    return { plugin, bindings: rows.get(pluginCursor(plugin)) ?? [], hasMoreBindings: hasMoreRows };
  };
  return { items: items.map(withTheirs), next };
}

/** @throws DomainError `not_found`, also for another user's plugin when a guest asks */
export async function readPlugin(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
): Promise<PluginWithBindings> {
  const { read } = context.store;
  const plugin = await findPlugin(read, actor, access, target);
  return readBindings(read, plugin);
}

/** A plugin as a path names it. */
export interface PluginTarget {
  readonly userId: string;
  readonly name: string;
}

/**
 * The plugin that a path names, when the actor may see it: a member every one, a guest its own.
 *
 * @throws DomainError `not_found`
 */
export async function findPlugin(
  read: Pick<Queries, 'plugin'>,
  actor: Actor,
  access: ExtensionPointAccess,
  { userId, name }: PluginTarget,
): Promise<PluginRecord> {
  const mayAsk = isId('user', userId) && isPluginName(name) && (isMember(access) || userId === actor.userId);
  const plugin = mayAsk ? await read.plugin({ extensionPointId: access.extensionPoint.id, userId, name }) : undefined;
  if (plugin === undefined) throw notFound('plugin');
  return plugin;
}

/**
 * One of a plugin's versions.
 *
 * @param number as a path has it
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

/** A plugin as it is now, with its claims. */
export async function readPluginWithBindings(
  read: Pick<Queries, 'plugin' | 'bindingsOfPlugins'>,
  key: PluginKey,
): Promise<PluginWithBindings> {
  const plugin = await read.plugin(key);
  if (plugin === undefined) throw notFound('plugin');
  return readBindings(read, plugin);
}

async function readBindings(
  read: Pick<Queries, 'bindingsOfPlugins'>,
  plugin: PluginRecord,
): Promise<PluginWithBindings> {
  const { rows, hasMore } = await readLimited((limit) => read.bindingsOfPlugins([plugin], limit));
  return { plugin, bindings: rows, hasMoreBindings: hasMore };
}

function pluginCursor<T extends { readonly userId: UserId; readonly name: string }>(plugin: T): string {
  return `${plugin.userId}/${plugin.name}`;
}
