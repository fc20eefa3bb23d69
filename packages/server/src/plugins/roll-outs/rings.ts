import type { GuestRecord, PluginKey } from '../../db/records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { rebind, requireNoPendingRebind } from '../rebind.ts';

/** How many plugins are recomputed in the transaction that changes a ring. */
const maxRebound = 20;

/**
 * Recomputes the bindings of a guest after a change of its ring.
 *
 * @returns the plugins with pending rebinds, which the caller finishes in further transactions
 * @throws PendingRebindError which `retryAfterPendingRebind()` handles
 */
export async function rebindForRing(
  { clock }: Pick<Deps, 'clock'>,
  tx: Transaction,
  { id, appId, ring }: GuestRecord,
): Promise<readonly PluginKey[]> {
  const open = await tx.openRollOutsOfGuest(appId, id);
  const reaching = open.filter(({ plan }) => plan.steps.some((step) => 'ring' in step && step.ring === ring));
  const plugins = new Map(reaching.map((one) => [`${one.extensionPointId} ${one.userId} ${one.name}`, one]));
  const pending: PluginKey[] = [];
  for (const { extensionPointId, userId, name } of plugins.values()) {
    const key = { extensionPointId, userId, name };
    await requireNoPendingRebind(tx, key);
    if (plugins.size <= maxRebound) await rebind(tx, key, clock(), { guestIds: [id] });
    else {
      await tx.putPendingRebind(key, { after: '', selection: null });
      pending.push(key);
    }
  }
  return pending;
}
