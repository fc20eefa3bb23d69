import type { AppId, UserId, WebhookId } from '@tenon/protocol';
import type { DueWebhook } from '../db/webhook-records.ts';

/** How many deliveries a process makes at once: in all, for one application, to one webhook, and to one that fails. */
const maxAtOnce = 64;
const maxPerApp = 16;
const maxPerWebhook = 4;
const maxPerFailingWebhook = 1;

/** What slots are counted for. Applications without an owner count as those of one account. */
type Holder = UserId | AppId | WebhookId | null;

/**
 * The slots of the deliveries that a process makes at once.
 *
 * An account gets another slot only while it has fewer than are free (dynamic thresholds, https://doi.org/10.1109/90.664262). So n
 * accounts with endless work leave a share of 1/(n + 1) free, and a further account begins at once, whatever their receivers do.
 */
export function createDeliverySlots() {
  const held = new Map<Holder, number>();
  let running = 0;

  const add = (webhook: DueWebhook, change: 1 | -1): void => {
    running += change;
    for (const holder of holdersOf(webhook)) {
      const count = heldBy(held, holder) + change;
      if (count > 0) held.set(holder, count);
      else held.delete(holder);
    }
  };

  return {
    free: (): number => maxAtOnce - running,
    /** Chooses the webhooks that get a slot, each one: first of the account, then of the application that has the fewest. */
    choose(due: readonly DueWebhook[]): readonly DueWebhook[] {
      const counts = new Map(held);
      const waiting = new Set(due);
      const chosen: DueWebhook[] = [];
      for (let free = maxAtOnce - running; free > 0; free--) {
        let next: DueWebhook | undefined;
        for (const webhook of waiting) {
          if (!mayHold(counts, webhook, free)) waiting.delete(webhook);
          else if (next === undefined || compare(counts, webhook, next) < 0) next = webhook;
        }
        if (next === undefined) break;
        waiting.delete(next);
        chosen.push(next);
        for (const holder of holdersOf(next)) counts.set(holder, heldBy(counts, holder) + 1);
      }
      return chosen;
    },
    /** Takes a slot. Call the result once to free it. */
    take(webhook: DueWebhook): () => void {
      add(webhook, 1);
      return () => add(webhook, -1);
    },
  };
}

function holdersOf({ id, appId, ownerId }: DueWebhook): readonly [WebhookId, AppId, Holder] {
  return [id, appId, ownerId];
}

function heldBy(counts: ReadonlyMap<Holder, number>, holder: Holder): number {
  return counts.get(holder) ?? 0;
}

function mayHold(counts: ReadonlyMap<Holder, number>, webhook: DueWebhook, free: number): boolean {
  const [id, appId, ownerId] = holdersOf(webhook);
  const max = webhook.failingSinceMs === null ? maxPerWebhook : maxPerFailingWebhook;
  return heldBy(counts, id) < max && heldBy(counts, appId) < maxPerApp && heldBy(counts, ownerId) < free;
}

function compare(counts: ReadonlyMap<Holder, number>, a: DueWebhook, b: DueWebhook): number {
  const [webhookOfA, appOfA, ownerOfA] = holdersOf(a);
  const [webhookOfB, appOfB, ownerOfB] = holdersOf(b);
  return (
    heldBy(counts, ownerOfA) - heldBy(counts, ownerOfB) ||
    heldBy(counts, appOfA) - heldBy(counts, appOfB) ||
    heldBy(counts, webhookOfA) - heldBy(counts, webhookOfB) ||
    a.dueAtMs - b.dueAtMs
  );
}
