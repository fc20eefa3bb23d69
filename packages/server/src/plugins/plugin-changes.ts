import { type AppId, pluginId } from '@tenon/protocol';
import { type AppAction, type AppEntry, record } from '../audit/record.ts';
import { type ExtensionPointAccess, renewAccess, requirePluginRoles } from '../auth/access.ts';
import { requirePluginAllowed } from '../auth/token-restriction.ts';
import type { PluginKey, PluginRecord, PluginRole } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueNotice } from '../mail/notices.ts';
import { findPlugin, type PluginTarget } from './plugins.ts';
import { finishRebind, type RebindOptions, rebind, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';

/** Passed to the change callback of {@link changePlugin}. */
export interface PluginChange {
  readonly tx: Transaction;
  readonly plugin: PluginRecord;
  /** The actor's roles towards the plugin: publisher, host, or both. */
  readonly roles: readonly PluginRole[];
  readonly nowMs: number;
  readonly recordAudit: <A extends PluginAction>(action: A, rest?: PluginAuditDetails<A>) => Promise<void>;
}

/** The audited actions on plugins, versions, bindings and roll-outs. */
type PluginAction = Extract<AppAction, `${'plugin' | 'version' | 'binding' | 'roll_out'}.${string}`>;

/** The maximum number of guests in one audit event. */
export const maxAuditedGuests = 1000;

/** What {@link changePlugin} has to do after the change. */
interface ChangeEffects extends Omit<RebindOptions, 'guestIds'> {
  /** Other plugins whose bindings must be recomputed in further transactions. */
  readonly pending?: readonly PluginKey[];
}

/** The fields of an audit event besides the action and the plugin. */
type PluginAuditDetails<A extends PluginAction> = Pick<AppEntry<A>, 'details' | 'guests'>;

/** Builds the audit event of an action on a plugin. */
export function pluginAuditEntry<A extends PluginAction>(
  appId: AppId,
  { extensionPointId, userId, name }: PluginKey,
  action: A,
  rest: PluginAuditDetails<A> = {},
): AppEntry<A> {
  const target = { id: pluginId(extensionPointId, userId, name), name };
  return { action, appId, target, ...rest };
}

/** Queues a mail to the publisher of a plugin or version that the team withdrew. */
export async function queueWithdrawalNotice(
  deps: Deps,
  tx: Transaction,
  { actor, app, extensionPoint }: ExtensionPointAccess,
  { userId, name }: PluginKey,
  withdrawal: { readonly what: 'blocked' | 'yanked'; readonly version?: number; readonly reason: string },
): Promise<void> {
  if (userId === actor.userId) return;
  const { what, version, reason } = withdrawal;
  const plugin = version === undefined ? name : `${name}, version ${version}`;
  const facts = { what, plugin, reason, app: app.name, extensionPoint: extensionPoint.name };
  await queueNotice(deps, tx, userId, 'withdrawals', { appId: app.id, facts });
}

/**
 * Changes an existing plugin. One transaction authorizes the actor, runs the change, recomputes the bindings and reads the result.
 * Very many bindings are recomputed in further transactions before this function returns. All changes of existing plugins go
 * through here.
 *
 * @param change runs in the transaction
 * @param readResult reads the returned value after the bindings have been recomputed
 * @throws DomainError `not_found` (also when a guest requests another user's plugin), `insufficient_scope`, `forbidden`, and the
 *   errors of `change`
 */
export async function changePlugin<T>(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  change: (input: PluginChange) => Promise<ChangeEffects | undefined>,
  readResult: (read: Queries, key: PluginKey) => Promise<T>,
): Promise<T> {
  const { actor } = access;
  const nowMs = deps.clock();
  const write = async (tx: Transaction) => {
    const renewed = await renewAccess(tx, access, 'changePlugins');
    const plugin = await findPlugin(tx, actor, renewed, target);
    requirePluginAllowed(actor, 'changePlugins', plugin);
    await requireNoPendingRebind(tx, plugin);
    const effects = await change({
      tx,
      plugin,
      roles: requirePluginRoles(actor, renewed, plugin),
      nowMs,
      recordAudit: (action, rest) => record(deps, tx, actor, pluginAuditEntry(access.app.id, plugin, action, rest)),
    });
    const { pending: otherPending = [], ...rebindOptions } = effects ?? {};
    const isPending = await rebind(tx, plugin, nowMs, rebindOptions);
    const pending = isPending ? [...otherPending, plugin] : otherPending;
    return { plugin, pending, result: pending.length > 0 ? undefined : await readResult(tx, plugin) };
  };
  const { plugin, pending, result } = await retryAfterPendingRebind(deps, () => deps.store.write(write));
  if (pending.length === 0) return result as T;
  for (const key of pending) await finishRebind(deps, key);
  return readResult(deps.store.read, plugin);
}
