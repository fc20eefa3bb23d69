import { isId, isPluginName, type UserId } from '@tenon/protocol';
import { type Actor, type ExtensionPointAccess, isMember } from './access.ts';
import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import { type PageOf, paged } from './paging.ts';
import type { Page } from './ports.ts';
import type { BindingRecord, PluginRecord } from './records.ts';

/** A plugin with its newest version, and where it is bound. */
export interface PluginWithBindings {
  readonly plugin: PluginRecord;
  readonly bindings: readonly BindingRecord[];
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
  const found = await paged(
    page,
    (plugin: PluginRecord) => `${plugin.userId}/${plugin.name}`,
    (stretch) => read.plugins(access.extensionPoint.id, publisher, stretch),
  );
  const bindings = Map.groupBy(await read.bindingsOfPlugins(found.items), (binding) => idWithin(binding));
  const items = found.items.map((plugin) => ({ plugin, bindings: bindings.get(idWithin(plugin)) ?? [] }));
  return { items, next: found.next };
}

/** @throws DomainError `not_found`, also for another user's plugin when a guest asks */
export async function readPlugin(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  userId: string,
  name: string,
): Promise<PluginWithBindings> {
  const mayAsk = isId('user', userId) && isPluginName(name) && (isMember(access) || userId === actor.userId);
  const key = { extensionPointId: access.extensionPoint.id, userId: userId as UserId, name };
  const plugin = mayAsk ? await context.store.read.plugin(key) : undefined;
  if (plugin === undefined) throw notFound('plugin');
  return { plugin, bindings: await context.store.read.bindingsOfPlugins([key]) };
}

function idWithin(plugin: { readonly userId: UserId; readonly name: string }): string {
  return `${plugin.userId}/${plugin.name}`;
}
