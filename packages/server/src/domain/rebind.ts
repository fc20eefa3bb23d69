import { bindingTarget } from '@tenon/protocol';
import type { Transaction } from './ports.ts';
import type { PluginKey } from './records.ts';

/**
 * Makes every claim of a plugin bind what it is to bind, after whatever may have changed that. Nothing else moves a binding.
 *
 * Hosts find the newest plugin by `updatedAt`, so a move is always later than the one before it; and a binding that stays
 * where it is keeps its time, since A2's entity tag changes exactly when the list does.
 */
export async function rebind(tx: Transaction, key: PluginKey, nowMs: number): Promise<void> {
  for (const { guestId, versionId: bound, updatedAtMs, ...facts } of await tx.bindingFacts(key)) {
    const versionId = bindingTarget(facts);
    if (versionId === bound) continue;
    const { extensionPointId, userId, name } = key;
    await tx.putBinding({
      extensionPointId,
      userId,
      name,
      guestId,
      versionId,
      updatedAtMs: Math.max(nowMs, updatedAtMs + 1),
    });
  }
}
