import { type AppId, pluginId } from '@tenon/protocol';
import { demandSides, type ExtensionPointAccess, renewAccess } from './access.ts';
import { type AppAction, type AppEntry, record } from './audit/record.ts';
import type { Context } from './context.ts';
import { findPlugin, type PluginTarget } from './plugins.ts';
import type { Transaction } from './ports.ts';
import { rebind } from './rebind.ts';
import type { PluginKey, PluginRecord, Side } from './records.ts';

/** A plugin that is being changed, and by whom. */
export interface PluginChange {
  readonly tx: Transaction;
  readonly plugin: PluginRecord;
  /** On which sides the actor may act: one of them, or both. */
  readonly sides: readonly Side[];
  readonly nowMs: number;
  /** Has the audit trail tell of it. */
  readonly tell: <A extends PluginAction>(action: A, rest?: AboutPlugin<A>) => Promise<void>;
}

/** What is done to a plugin and its versions. */
export type PluginAction = Extract<AppAction, `${'plugin' | 'version' | 'binding'}.${string}`>;

/** What is told beside the action and the plugin. */
export type AboutPlugin<A extends PluginAction> = Pick<AppEntry<A>, 'details' | 'guests'>;

/** What the audit trail tells of anything done to a plugin. */
export function auditOfPlugin<A extends PluginAction>(
  appId: AppId,
  { extensionPointId, userId, name }: PluginKey,
  action: A,
  rest: AboutPlugin<A> = {},
): AppEntry<A> {
  const target = { id: pluginId(extensionPointId, userId, name), name };
  return { action, appId, target, ...rest };
}

/**
 * Changes a plugin that there is already: in one transaction the change is made, the bindings follow from it, and what is to
 * be answered is read. Every such change goes through here, whichever side makes it.
 *
 * @throws DomainError `not_found`, also for another user's plugin when a guest asks; `insufficient_scope`, `forbidden`; and what
 *   the change throws
 */
export function changePlugin<T>(
  context: Context,
  access: ExtensionPointAccess,
  target: PluginTarget,
  change: (of: PluginChange) => Promise<void>,
  answer: (tx: Transaction, key: PluginKey) => Promise<T>,
): Promise<T> {
  const { actor } = access;
  const nowMs = context.clock();
  return context.store.write(async (tx) => {
    const now = await renewAccess(tx, access, 'changePlugins');
    const plugin = await findPlugin(tx, actor, now, target);
    await change({
      tx,
      plugin,
      sides: demandSides(actor, now, plugin),
      nowMs,
      tell: (action, rest) => record(context, tx, actor, auditOfPlugin(access.app.id, plugin, action, rest)),
    });
    await rebind(tx, plugin, nowMs);
    return answer(tx, plugin);
  });
}
