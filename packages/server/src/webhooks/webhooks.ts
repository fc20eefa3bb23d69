import {
  isId,
  maxWebhookSecrets,
  newId,
  type WebhookDeliveryState,
  type WebhookId,
  type WebhookInput,
  type WebhookUpdate,
  webhookOverlapHours,
} from '@tenon/protocol';
import { chainStart } from '../audit/chain.ts';
import { changedFields, record, recordEvent } from '../audit/record.ts';
import { type AppAccess, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { takeQuota } from '../auth/quotas.ts';
import { type PageOf, readPageById } from '../db/paging.ts';
import type { Page, Queries, Transaction } from '../db/store.ts';
import type { WebhookDeliveryRecord, WebhookRecord, WebhookSecretRecord } from '../db/webhook-records.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound } from '../http/domain-errors.ts';
import { isPrivateHost } from '../http/public-addresses.ts';
import { newDelivery } from './enqueue.ts';
import { makeWebhookSecret } from './signature.ts';
import { webhookHost, webhookTarget } from './webhook-target.ts';

const hourMs = 60 * 60_000;

/** How many deliveries one transaction replays or deletes. */
const batchSize = 1000;

/** A webhook with its secrets. */
export interface WebhookWithSecrets {
  readonly webhook: WebhookRecord;
  readonly secrets: readonly WebhookSecretRecord[];
}

/**
 * Creates a webhook, which gets the events from then on. In a browser's session, it needs step-up.
 *
 * @returns the webhook, with its secret
 * @throws DomainError `invalid_field` for a URL that is not allowed; `quota_exceeded`, `step_up_required`
 */
export async function createWebhook(deps: Deps, access: AppAccess, input: WebhookInput): Promise<WebhookWithSecrets> {
  const url = requireUrl(deps, input.url);
  return changing(deps, access, async (tx, { actor, app }) => {
    await requireStepUp(deps, actor.sessionId, tx);
    await takeQuota(deps, tx, 'webhooks', app.id, await tx.countWebhooks(app.id));
    const nowMs = deps.clock();
    const webhook: WebhookRecord = {
      id: newId('webhook'),
      appId: app.id,
      url,
      description: input.description ?? null,
      actions: input.actions ?? null,
      state: 'enabled',
      afterSeq: await startFromHead(tx),
      failingSinceMs: null,
      notBeforeMs: 0,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await tx.insertWebhook(webhook);
    const secret = newSecret(deps, webhook.id);
    await tx.insertWebhookSecret(secret);
    const entry = { action: 'webhook.create', appId: app.id, target: webhookTarget(webhook) } as const;
    await record(deps, tx, actor, { ...entry, details: { host: webhookHost(url), actions: webhook.actions } });
    return { webhook, secrets: [secret] };
  });
}

/**
 * Changes a webhook. In a browser's session, it needs step-up. A webhook that is enabled again gets the events from then on.
 *
 * @throws DomainError `not_found`; `invalid_field` for a URL that is not allowed; `step_up_required`
 */
export async function updateWebhook(
  deps: Deps,
  access: AppAccess,
  webhookId: string,
  { isEnabled, ...input }: WebhookUpdate,
): Promise<WebhookWithSecrets> {
  const url = input.url === undefined ? undefined : requireUrl(deps, input.url);
  return changing(deps, access, async (tx, { actor, app }) => {
    const before = await requireWebhook(tx, access, webhookId);
    await requireStepUp(deps, actor.sessionId, tx);
    const after: WebhookRecord = {
      ...before,
      ...(url !== undefined && { url }),
      ...(url !== undefined && url !== before.url && { failingSinceMs: null, notBeforeMs: 0 }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.actions !== undefined && { actions: input.actions }),
      ...(isEnabled === true && before.state !== 'enabled' && (await enabled(tx))),
      ...(isEnabled === false && before.state === 'enabled' && { state: 'disabled' as const }),
    };
    const facts = ({ description, actions, state, url: of }: WebhookRecord) => ({
      ...{ description, actions, state },
      host: webhookHost(of),
    });
    const details = changedFields(facts(before), facts(after));
    if (after.url !== before.url || Object.keys(details).length > 0) {
      const { id: _, appId: __, createdAtMs: ___, ...fields } = after;
      await tx.updateWebhook(before.id, { ...fields, updatedAtMs: deps.clock() });
      await record(deps, tx, actor, {
        ...{ action: 'webhook.update', appId: app.id, target: webhookTarget(after) },
        details,
      });
    }
    return withSecrets(deps, tx, await requireWebhook(tx, access, webhookId));
  });
}

async function enabled(tx: Transaction) {
  return { state: 'enabled' as const, afterSeq: await startFromHead(tx), failingSinceMs: null, notBeforeMs: 0 };
}

/** Returns the head of the hash chain, from which a webhook gets events. The first webhook lets the queue begin there. */
async function startFromHead(tx: Transaction): Promise<number> {
  const head = (await tx.auditPosition('head')) ?? chainStart;
  if (!(await tx.isAnyWebhookEnabled())) await tx.putAuditPosition({ kind: 'webhooks', ...head });
  return head.seq;
}

/** Deletes a webhook with its log. @throws DomainError `not_found` */
export async function deleteWebhook(deps: Deps, access: AppAccess, webhookId: string): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await changing(deps, access, async (tx, { actor, app }) => {
      const webhook = await requireWebhook(tx, access, webhookId);
      if ((await tx.deleteWebhookDeliveries(webhook.id, batchSize)) === batchSize) return false;
      await tx.deleteWebhook(webhook.id);
      await record(deps, tx, actor, { action: 'webhook.delete', appId: app.id, target: webhookTarget(webhook) });
      return true;
    });
  }
}

/**
 * Adds a secret. The previous ones still sign for some time. In a browser's session, it needs step-up.
 *
 * @returns the webhook, with the new secret first
 * @throws DomainError `not_found`; `limit_exceeded` with too many secrets; `step_up_required`
 */
export async function rotateWebhookSecret(
  deps: Deps,
  access: AppAccess,
  webhookId: string,
  overlapHours: number = webhookOverlapHours.default,
): Promise<WebhookWithSecrets> {
  return changing(deps, access, async (tx, { actor, app }) => {
    const webhook = await requireWebhook(tx, access, webhookId);
    await requireStepUp(deps, actor.sessionId, tx);
    const nowMs = deps.clock();
    await tx.endWebhookSecrets(webhook.id, nowMs + overlapHours * hourMs);
    await tx.deleteEndedWebhookSecrets(nowMs);
    if ((await tx.webhookSecrets([webhook.id])).length >= maxWebhookSecrets) {
      const detail = `A webhook can have at most ${maxWebhookSecrets} secrets. Wait until one ends, or rotate with "overlapHours": 0.`;
      throw new DomainError('limit_exceeded', detail);
    }
    await tx.insertWebhookSecret(newSecret(deps, webhook.id));
    const entry = { action: 'webhook.rotate_secret', appId: app.id, target: webhookTarget(webhook) } as const;
    await record(deps, tx, actor, { ...entry, details: { overlapHours } });
    return withSecrets(deps, tx, webhook);
  });
}

/** Queues a test. @throws DomainError `not_found`; `conflict` for a webhook that is not enabled */
export async function testWebhook(deps: Deps, access: AppAccess, webhookId: string): Promise<WebhookDeliveryRecord> {
  return changing(deps, access, async (tx, { actor, app }) => {
    const webhook = await requireEnabled(tx, access, webhookId);
    const entry = { action: 'webhook.test', appId: app.id, target: webhookTarget(webhook) } as const;
    const delivery = newDelivery(webhook, await recordEvent(deps, tx, actor, entry), deps.clock());
    await tx.insertWebhookDeliveries([delivery]);
    return delivery;
  });
}

/** Makes a settled delivery due again. @throws DomainError `not_found`; `conflict` for a pending one, or a webhook that is not enabled */
export async function replayDelivery(
  deps: Deps,
  access: AppAccess,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDeliveryRecord> {
  return changing(deps, access, async (tx, { actor, app }) => {
    const found = await requireWebhook(tx, access, webhookId);
    const delivery = isId('webhookDelivery', deliveryId) ? await tx.webhookDelivery(deliveryId) : undefined;
    if (delivery?.webhookId !== found.id) throw notFound('delivery');
    const webhook = await requireEnabled(tx, access, webhookId);
    if (delivery.state === 'pending') throw new DomainError('conflict', 'The delivery is pending already.');
    await tx.replayWebhookDelivery(delivery.id, deps.clock());
    const entry = { action: 'webhook.replay', appId: app.id, target: webhookTarget(webhook) } as const;
    await record(deps, tx, actor, { ...entry, details: { deliveryId: delivery.id } });
    return (await tx.webhookDelivery(delivery.id)) ?? delivery;
  });
}

/**
 * Makes failed deliveries due again, at most {@link batchSize} of them, the oldest first.
 *
 * @throws DomainError `not_found`; `conflict` for a webhook that is not enabled
 */
export async function replayFailedDeliveries(
  deps: Deps,
  access: AppAccess,
  webhookId: string,
  since: string,
): Promise<{ readonly replayed: number; readonly hasMore: boolean }> {
  return changing(deps, access, async (tx, { actor, app }) => {
    const webhook = await requireEnabled(tx, access, webhookId);
    const range = { sinceMs: Date.parse(since), nowMs: deps.clock(), limit: batchSize };
    const replayed = await tx.replayWebhookDeliveries(webhook.id, range);
    const entry = { action: 'webhook.replay', appId: app.id, target: webhookTarget(webhook) } as const;
    await record(deps, tx, actor, { ...entry, details: { since, replayed } });
    return { replayed, hasMore: replayed === batchSize };
  });
}

/** Reads a webhook. @throws DomainError `not_found` */
export async function readWebhook(deps: Deps, access: AppAccess, webhookId: string): Promise<WebhookWithSecrets> {
  const { read } = deps.store;
  return withSecrets(deps, read, await requireWebhook(read, access, webhookId));
}

export async function listWebhooks(deps: Deps, { app }: AppAccess, page: Page): Promise<PageOf<WebhookWithSecrets>> {
  const { read } = deps.store;
  const { items, ...rest } = await readPageById(page, (range) => read.webhooksOfApp(app.id, range));
  const secrets = items.length === 0 ? [] : await read.webhookSecrets(items.map(({ id }) => id));
  const ofWebhook = Map.groupBy(secrets, ({ webhookId }) => webhookId);
  return { ...rest, items: items.map((webhook) => live(deps, webhook, ofWebhook.get(webhook.id) ?? [])) };
}

/** Lists the deliveries of a webhook, the newest first. @throws DomainError `not_found` */
export async function listDeliveries(
  deps: Deps,
  access: AppAccess,
  webhookId: string,
  state: WebhookDeliveryState | undefined,
  page: Page,
): Promise<PageOf<WebhookDeliveryRecord>> {
  const { read } = deps.store;
  const { id } = await requireWebhook(read, access, webhookId);
  return readPageById(page, (range) => read.webhookDeliveries(id, state, range));
}

/** Runs a change in a transaction, with the actor's current access. */
function changing<T>(
  deps: Deps,
  access: AppAccess,
  work: (tx: Transaction, access: AppAccess) => Promise<T>,
): Promise<T> {
  return deps.store.write(async (tx) => work(tx, await renewAccess(tx, access, 'manageWebhooks')));
}

async function requireWebhook(
  read: Pick<Queries, 'webhook'>,
  { app }: AppAccess,
  webhookId: string,
): Promise<WebhookRecord> {
  const webhook = isId('webhook', webhookId) ? await read.webhook(webhookId) : undefined;
  if (webhook?.appId !== app.id) throw notFound('webhook');
  return webhook;
}

async function requireEnabled(
  read: Pick<Queries, 'webhook'>,
  access: AppAccess,
  webhookId: string,
): Promise<WebhookRecord> {
  const webhook = await requireWebhook(read, access, webhookId);
  if (webhook.state === 'enabled') return webhook;
  throw new DomainError('conflict', 'The webhook is disabled. Enable it first.');
}

async function withSecrets(
  deps: Pick<Deps, 'clock'>,
  read: Pick<Queries, 'webhookSecrets'>,
  webhook: WebhookRecord,
): Promise<WebhookWithSecrets> {
  return live(deps, webhook, await read.webhookSecrets([webhook.id]));
}

/** Leaves out secrets that do not sign any more. */
function live(
  { clock }: Pick<Deps, 'clock'>,
  webhook: WebhookRecord,
  secrets: readonly WebhookSecretRecord[],
): WebhookWithSecrets {
  const nowMs = clock();
  return { webhook, secrets: secrets.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs) };
}

function newSecret({ random, clock }: Pick<Deps, 'random' | 'clock'>, webhookId: WebhookId): WebhookSecretRecord {
  const secret = makeWebhookSecret(random);
  return { id: newId('webhookSecret'), webhookId, secret, createdAtMs: clock(), expiresAtMs: null };
}

/** @throws DomainError `invalid_field` */
function requireUrl({ settings }: Pick<Deps, 'settings'>, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:\/\/[^/]/i.test(text) ||
    url.username !== '' ||
    url.password !== '' ||
    url.hash !== ''
  ) {
    throw invalidField('/url', 'must be an https URL without a user name, password, or fragment');
  }
  if (settings.webhookOrigins.includes(url.origin)) return url.href;
  if (url.protocol !== 'https:' || isPrivateHost(url) || /(^|\.)localhost\.?$/.test(url.hostname)) {
    throw invalidField(
      '/url',
      'must be an https URL with a public address. The operator can allow other origins (TENON_WEBHOOK_ORIGINS)',
    );
  }
  return url.href;
}
