import type { WebhookState } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Settings } from '../config/settings.ts';
import type { Transaction } from '../db/store.ts';
import type { WebhookDeliveryRecord, WebhookRecord } from '../db/webhook-records.ts';
import type { Deps } from '../deps.ts';
import { queueOwnerNotices } from '../mail/notices.ts';
import {
  type AttemptResult,
  failingLimitMs,
  isGone,
  nextAttemptAtMs,
  pauseMs,
  type WebhookOutcome,
} from './schedule.ts';
import { webhookTarget } from './webhook-target.ts';

type SettleDeps = Pick<Deps, 'store' | 'clock' | 'random'> & { readonly settings: Pick<Settings, 'smtp'> };

/** Stores the outcome of an attempt, for the delivery and for its webhook. */
export async function settleDelivery(
  deps: SettleDeps,
  delivery: WebhookDeliveryRecord,
  result: AttemptResult,
): Promise<WebhookOutcome> {
  const nowMs = deps.clock();
  const isDelivered = result.error === null;
  const isFinal = result.error === 'disabled' || result.error === 'expired' || isGone(result);
  const nextAtMs = isDelivered || isFinal ? undefined : nextAttemptAtMs(delivery.attempts, nowMs, randomShare(deps));
  const pausedUntilMs = nowMs + pauseMs(result);
  await deps.store.write(async (tx) => {
    await tx.setWebhookDelivery(delivery, {
      ...(result.error === 'disabled' || result.error === 'expired'
        ? { error: result.error, attempts: delivery.attempts - 1 }
        : toFields(result, nowMs)),
      state: isDelivered ? 'delivered' : nextAtMs === undefined ? 'failed' : 'pending',
      dueAtMs: nextAtMs === undefined ? nowMs : Math.max(nextAtMs, pausedUntilMs),
    });
    const webhook = await tx.webhook(delivery.webhookId);
    if (webhook?.state === 'enabled' && result.error !== 'expired') {
      await settleWebhook(deps, tx, webhook, result, pausedUntilMs);
    }
  });
  if (isDelivered) return 'delivered';
  return nextAtMs === undefined ? 'failed' : 'retried';
}

function toFields({ status, error, response, durationMs }: AttemptResult, nowMs: number) {
  return { status, error, response, durationMs, attemptedAtMs: nowMs - durationMs };
}

async function settleWebhook(
  deps: SettleDeps,
  tx: Transaction,
  webhook: WebhookRecord,
  result: AttemptResult,
  pausedUntilMs: number,
): Promise<void> {
  const nowMs = deps.clock();
  if (result.error === null) {
    if (webhook.failingSinceMs !== null) await tx.setWebhookHealth(webhook.id, { failingSinceMs: null });
    return;
  }
  const failingSinceMs = webhook.failingSinceMs ?? nowMs;
  if (isGone(result)) await disable(deps, tx, webhook, 'gone');
  else if (nowMs - failingSinceMs >= failingLimitMs) await disable(deps, tx, webhook, 'failing');
  else if (webhook.failingSinceMs === null || pausedUntilMs > Math.max(nowMs, webhook.notBeforeMs)) {
    await tx.setWebhookHealth(webhook.id, {
      failingSinceMs,
      notBeforeMs: Math.max(webhook.notBeforeMs, pausedUntilMs),
    });
  }
}

/** Disables a webhook, and queues a notice to the owners. Its pending deliveries fail when they are due. */
async function disable(deps: SettleDeps, tx: Transaction, webhook: WebhookRecord, state: WebhookState): Promise<void> {
  await tx.updateWebhook(webhook.id, { state, updatedAtMs: deps.clock() });
  const entry = { action: 'webhook.disable', appId: webhook.appId, target: webhookTarget(webhook) } as const;
  await record(deps, tx, 'system', { ...entry, details: { state } });
  await queueOwnerNotices(deps, tx, webhook.appId, 'webhooks', { webhookId: webhook.id });
}

function randomShare({ random }: Pick<Deps, 'random'>): number {
  return Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
}
