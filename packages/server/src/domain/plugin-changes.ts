import { type AppId, pluginId } from '@tenon/protocol';
import { type ExtensionPointAccess, renewAccess, requirePluginRoles } from './access.ts';
import { type AppAction, type AppEntry, record } from './audit/record.ts';
import type { Context } from './context.ts';
import { findPlugin, type PluginTarget } from './plugins.ts';
import type { Queries, Transaction } from './ports.ts';
import { finishRebind, type RebindOptions, rebind, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';
import type { PluginKey, PluginRecord, Side } from './records.ts';

/** A plugin that is being changed, and by whom. */
export interface PluginChange {
  readonly tx: Transaction;
  readonly plugin: PluginRecord;
  /** On which sides the actor may act: one of them, or both. */
  readonly sides: readonly Side[];
  readonly nowMs: number;
  /** Has the audit trail tell of it. */
  readonly recordAudit: <A extends PluginAction>(action: A, rest?: PluginAuditDetails<A>) => Promise<void>;
}

/** What is done to a plugin and its versions. */
export type PluginAction = Extract<AppAction, `${'plugin' | 'version' | 'binding'}.${string}`>;

/** How many guests one row of the audit trail names at the most. */
export const maxAuditedGuests = 1000;

/** What else a change comes to. */
interface ChangeEffects extends Omit<RebindOptions, 'guestIds'> {
  /** Other plugins whose bindings follow in further transactions. */
  readonly pending?: readonly PluginKey[];
}

/** What is told beside the action and the plugin. */
export type PluginAuditDetails<A extends PluginAction> = Pick<AppEntry<A>, 'details' | 'guests'>;

/** What the audit trail tells of anything done to a plugin. */
export function pluginAuditEntry<A extends PluginAction>(
  appId: AppId,
  { extensionPointId, userId, name }: PluginKey,
  action: A,
  rest: PluginAuditDetails<A> = {},
): AppEntry<A> {
  const target = { id: pluginId(extensionPointId, userId, name), name };
  return { action, appId, target, ...rest };
}

/**
 * Changes a plugin that there is already: in one transaction the change is made, the bindings follow from it, and what is to
 * be answered is read. Where there are very many bindings they follow in further transactions, before the answer.
 * Every such change goes through here, whichever side makes it.
 *
 * @throws DomainError `not_found`, also for another user's plugin when a guest asks; `insufficient_scope`, `forbidden`; and what
 *   the change throws
 */
export async function changePlugin<T>(
  context: Context,
  access: ExtensionPointAccess,
  target: PluginTarget,
  change: (of: PluginChange) => Promise<ChangeEffects | undefined>,
  answer: (read: Queries, key: PluginKey) => Promise<T>,
): Promise<T> {
  const { actor } = access;
  const nowMs = context.clock();
  const write = async (tx: Transaction) => {
    const now = await renewAccess(tx, access, 'changePlugins');
    const plugin = await findPlugin(tx, actor, now, target);
    await requireNoPendingRebind(tx, plugin);
    const changed = await change({
      tx,
      plugin,
      sides: requirePluginRoles(actor, now, plugin),
      nowMs,
      recordAudit: (action, rest) => record(context, tx, actor, pluginAuditEntry(access.app.id, plugin, action, rest)),
    });
    const { pending = [], ...rebinding } = changed ?? {};
    const isPending = await rebind(tx, plugin, nowMs, rebinding);
    const all = isPending ? [...pending, plugin] : pending;
    return { plugin, pending: all, answer: all.length > 0 ? undefined : await answer(tx, plugin) };
  };
  const done = await retryAfterPendingRebind(context, () => context.store.write(write));
  if (done.pending.length === 0) return done.answer as T;
  for (const pending of done.pending) await finishRebind(context, pending);
  return answer(context.store.read, done.plugin);
}
