import { newId } from '@tenon/protocol';
import { readAuditHead } from '../audit/seal.ts';
import type { AccountAuditEvent } from '../db/audit-records.ts';
import type { WebhookDeliveryRecord, WebhookRecord } from '../db/webhook-records.ts';
import type { Deps } from '../deps.ts';

/** How many events one transaction reads. */
const batchSize = 200;

/** How much the clocks of nodes may differ, in milliseconds. */
const clockToleranceMs = 5 * 60_000;

/**
 * Queues deliveries of some events that were sealed since the last call. The position in the hash chain and the deliveries are stored in
 * one transaction, so that no event is lost or queued twice, also with several processes.
 *
 * @returns whether there are further events
 */
export async function enqueueWebhooks(deps: Pick<Deps, 'store' | 'clock'>): Promise<boolean> {
  if (!(await deps.store.read.isAnyWebhookEnabled())) return false;
  const position = await deps.store.read.auditPosition('webhooks');
  if ((position?.seq ?? 0) >= (await readAuditHead(deps)).seq) return false;
  await enqueueBatch(deps);
  return true;
}

async function enqueueBatch({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<void> {
  await store.write(async (tx) => {
    const position = await tx.auditPosition('webhooks');
    const page = await tx.auditLinks(position?.seq ?? 0, batchSize);
    const last = page.at(-1)?.link;
    if (last === undefined) return;
    const appIds = new Set(page.flatMap(({ event }) => (event?.appId ? [event.appId] : [])));
    const webhooks = appIds.size === 0 ? [] : await tx.enabledWebhooks([...appIds]);
    const nowMs = clock();
    const deliveries = page.flatMap(({ link, event }) =>
      webhooks.flatMap((webhook) =>
        event !== undefined && link.seq > webhook.afterSeq && isSent(event, webhook)
          ? [newDelivery(webhook, event, nowMs)]
          : [],
      ),
    );
    if (deliveries.length > 0) await tx.insertWebhookDeliveries(deliveries);
    await tx.putAuditPosition({ kind: 'webhooks', seq: last.seq, hash: last.hash });
  });
}

/**
 * Whether a webhook gets an event. A test is queued with its own event, for its own webhook. After an upgrade, old events are sealed late.
 */
function isSent({ appId, action, atMs }: AccountAuditEvent, webhook: WebhookRecord): boolean {
  if (webhook.appId !== appId || action === 'webhook.test') return false;
  if (atMs < webhook.createdAtMs - clockToleranceMs) return false;
  return webhook.actions === null || webhook.actions.includes(action);
}

export function newDelivery(
  { id: webhookId }: Pick<WebhookRecord, 'id'>,
  { id: eventId, action: type }: Pick<AccountAuditEvent, 'id' | 'action'>,
  nowMs: number,
): WebhookDeliveryRecord {
  return {
    id: newId('webhookDelivery'),
    webhookId,
    eventId,
    type,
    state: 'pending',
    attempts: 0,
    createdAtMs: nowMs,
    dueAtMs: nowMs,
    attemptedAtMs: null,
    durationMs: null,
    status: null,
    error: null,
    response: null,
  };
}
