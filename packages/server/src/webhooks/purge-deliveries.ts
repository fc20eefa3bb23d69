import { type WebhookId, webhookDeliveryRetentionDays } from '@tenon/protocol';
import type { Deps } from '../deps.ts';

const retentionMs = webhookDeliveryRetentionDays * 24 * 60 * 60_000;

/** How many deliveries of a webhook are stored, besides pending ones. */
export const maxStoredDeliveries = 10_000;

/** How many rows one transaction deletes. It is limited because other writers wait for the transaction. */
const batchSize = 1000;

/** Deletes settled deliveries that are older than their retention time, or too many, and secrets that do not sign any more. */
export async function purgeWebhookDeliveries(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  kept: number = maxStoredDeliveries,
): Promise<void> {
  await store.write((tx) => tx.deleteEndedWebhookSecrets(clock()));
  const beforeMs = clock() - retentionMs;
  while ((await store.write((tx) => tx.deleteWebhookDeliveriesBefore(beforeMs, batchSize))) >= batchSize);
  for (let after: WebhookId | '' = ''; ; ) {
    const webhooks: readonly { readonly id: WebhookId }[] = await store.read.webhookIds(after, batchSize);
    for (const { id } of webhooks) {
      while ((await store.write((tx) => tx.trimWebhookDeliveries(id, { kept, limit: batchSize }))) === batchSize);
    }
    const last = webhooks.at(-1);
    if (last === undefined || webhooks.length < batchSize) return;
    after = last.id;
  }
}
