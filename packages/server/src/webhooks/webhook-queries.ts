import type { AppId, AuditEventId, WebhookDeliveryId, WebhookDeliveryState, WebhookId } from '@tenon/protocol';
import type { SelectQueryBuilder } from 'kysely';
import type { AccountAuditEvent } from '../db/audit-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged, setOf } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type Database } from '../db/records.ts';
import type {
  WebhookBacklog,
  WebhookDeliveryRecord,
  WebhookQueueSummary,
  WebhookRecord,
  WebhookSecretRecord,
} from '../db/webhook-records.ts';

/** How many deliveries of other webhooks a claim looks past. */
const claimWindow = 200;

/** A delivery with its webhook. */
export type ClaimedDelivery = WebhookDeliveryRecord & { readonly webhook: WebhookRecord };

export const webhookQueries = {
  webhook: (db: Db, id: WebhookId): Promise<WebhookRecord | undefined> =>
    db.selectFrom('webhooks').select(columns.webhooks).where('id', '=', id).executeTakeFirst(),

  webhooksOfApp: (db: Db, appId: AppId, page: Page): Promise<WebhookRecord[]> =>
    paged(db.selectFrom('webhooks').select(columns.webhooks).where('appId', '=', appId), 'id', page).execute(),

  async countWebhooks(db: Db, appId: AppId): Promise<number> {
    const { count } = await db
      .selectFrom('webhooks')
      .select((all) => all.fn.countAll<number | string>().as('count'))
      .where('appId', '=', appId)
      .executeTakeFirstOrThrow();
    return Number(count);
  },

  isAnyWebhookEnabled: (db: Db): Promise<boolean> =>
    hasRow(db.selectFrom('webhooks').select('id').where('state', '=', 'enabled')),

  /** The enabled webhooks of applications. */
  enabledWebhooks: (db: Db, appIds: readonly AppId[]): Promise<WebhookRecord[]> =>
    db
      .selectFrom('webhooks')
      .select(columns.webhooks)
      .where('appId', 'in', setOf(appIds))
      .where('state', '=', 'enabled')
      .execute(),

  /** The ids of all webhooks, by id. */
  webhookIds: (db: Db, after: WebhookId | '', limit: number): Promise<{ readonly id: WebhookId }[]> =>
    db
      .selectFrom('webhooks')
      .select('id')
      .where('id', '>', after as WebhookId)
      .orderBy('id')
      .limit(limit)
      .execute(),

  /** The secrets of webhooks, the newest first. */
  webhookSecrets: (db: Db, ids: readonly WebhookId[]): Promise<WebhookSecretRecord[]> =>
    db
      .selectFrom('webhook_secrets')
      .select(columns.webhookSecrets)
      .where('webhookId', 'in', setOf(ids))
      .orderBy('id', 'desc')
      .execute(),

  webhookDelivery: (db: Db, id: WebhookDeliveryId): Promise<WebhookDeliveryRecord | undefined> =>
    db.selectFrom('webhook_deliveries').select(columns.webhookDeliveries).where('id', '=', id).executeTakeFirst(),

  /** The deliveries of a webhook, the newest first. */
  webhookDeliveries(
    db: Db,
    webhookId: WebhookId,
    state: WebhookDeliveryState | undefined,
    page: Page,
  ): Promise<WebhookDeliveryRecord[]> {
    let rows = db.selectFrom('webhook_deliveries').select(columns.webhookDeliveries).where('webhookId', '=', webhookId);
    if (state !== undefined) rows = rows.where('state', '=', state);
    return paged(rows, 'id', page, true).execute();
  },

  async webhookQueue(db: Db): Promise<WebhookQueueSummary> {
    const { count, oldestMs } = await db
      .selectFrom('webhook_deliveries')
      .select((all) => [all.fn.countAll<number | string>().as('count'), all.fn.min('dueAtMs').as('oldestMs')])
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow();
    return { pending: Number(count), oldestDueAtMs: oldestMs === null ? null : Number(oldestMs) };
  },

  async webhookBacklog(db: Db): Promise<WebhookBacklog> {
    const count = (state: WebhookDeliveryState) =>
      db
        .selectFrom('webhook_deliveries')
        .select((all) => [all.fn.countAll<number | string>().as('count'), all.fn.min('createdAtMs').as('oldestMs')])
        .where('state', '=', state)
        .executeTakeFirstOrThrow();
    const [pending, failed] = [await count('pending'), await count('failed')];
    const oldestPendingAtMs = pending.oldestMs === null ? null : Number(pending.oldestMs);
    return { pending: Number(pending.count), oldestPendingAtMs, failed: Number(failed.count) };
  },

  isAnyWebhookDeliveryDue: (db: Db, nowMs: number): Promise<boolean> =>
    hasRow(
      db.selectFrom('webhook_deliveries').select('id').where('state', '=', 'pending').where('dueAtMs', '<=', nowMs),
    ),

  /** The events that deliveries send. */
  webhookEvents: (db: Db, ids: readonly AuditEventId[]): Promise<AccountAuditEvent[]> =>
    db.selectFrom('audit_events').select(columns.accountAudit).where('id', 'in', setOf(ids)).execute(),
};

export const webhookMutations = {
  insertWebhook: statement({ audit: true, invalidates: nothing }, (db: Db, webhook: WebhookRecord) =>
    db.insertInto('webhooks').values(webhook),
  ),

  updateWebhook: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: WebhookId, fields: Partial<Omit<WebhookRecord, 'id' | 'appId' | 'createdAtMs'>>) =>
      db.updateTable('webhooks').set(fields).where('id', '=', id),
  ),

  /** Also deletes its secrets and deliveries. */
  deleteWebhook: statement({ audit: true, invalidates: nothing, usesDiskReserve: true }, (db: Db, id: WebhookId) =>
    db.deleteFrom('webhooks').where('id', '=', id),
  ),

  insertWebhookSecret: statement({ audit: true, invalidates: nothing }, (db: Db, secret: WebhookSecretRecord) =>
    db.insertInto('webhook_secrets').values(secret),
  ),

  /** Ends the present secrets of a webhook at a time, those that end earlier excepted. */
  endWebhookSecrets: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, webhookId: WebhookId, expiresAtMs: number) =>
      db
        .updateTable('webhook_secrets')
        .set({ expiresAtMs })
        .where('webhookId', '=', webhookId)
        .where((eb) => eb.or([eb('expiresAtMs', 'is', null), eb('expiresAtMs', '>', expiresAtMs)])),
  ),

  /** Deletes secrets that do not sign any more. */
  deleteEndedWebhookSecrets: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, nowMs: number) => db.deleteFrom('webhook_secrets').where('expiresAtMs', '<=', nowMs),
  ),

  /** Inserts deliveries, except those of events that the webhook has already. */
  insertWebhookDeliveries: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, deliveries: readonly WebhookDeliveryRecord[]): Promise<void> => {
      await db
        .insertInto('webhook_deliveries')
        .values(deliveries)
        .onConflict((conflict) => conflict.columns(['webhookId', 'eventId']).doNothing())
        .execute();
    },
  ),

  /**
   * Takes deliveries that are due, so that other processes leave them alone until a time.
   *
   * @param mayTake decides about each delivery, in the order in which they are due
   */
  claimWebhookDeliveries: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      {
        nowMs,
        untilMs,
        busy,
      }: {
        readonly nowMs: number;
        readonly untilMs: number;
        readonly busy: { readonly webhooks: readonly WebhookId[]; readonly apps: readonly AppId[] };
      },
      mayTake: (delivery: WebhookDeliveryRecord, webhook: WebhookRecord) => boolean,
    ): Promise<ClaimedDelivery[]> => {
      let due = db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhookId')
        .select(columns.webhookDeliveries)
        .where('webhook_deliveries.state', '=', 'pending')
        .where('webhook_deliveries.dueAtMs', '<=', nowMs)
        .where('webhooks.notBeforeMs', '<=', nowMs)
        .orderBy('webhook_deliveries.dueAtMs')
        .limit(claimWindow);
      if (busy.webhooks.length > 0) due = due.where('webhook_deliveries.webhookId', 'not in', busy.webhooks);
      if (busy.apps.length > 0) due = due.where('webhooks.appId', 'not in', busy.apps);
      const found = await due.execute();
      if (found.length === 0) return [];
      const rows = await db
        .selectFrom('webhooks')
        .select(columns.webhooks)
        .where('id', 'in', setOf(found.map(({ webhookId }) => webhookId)))
        .execute();
      const webhooks = new Map(rows.map((webhook) => [webhook.id, webhook]));
      const taken = found.flatMap((delivery) => {
        const webhook = webhooks.get(delivery.webhookId);
        if (webhook === undefined || !mayTake(delivery, webhook)) return [];
        return [{ ...delivery, attempts: delivery.attempts + 1, webhook }];
      });
      if (taken.length > 0) {
        await db
          .updateTable('webhook_deliveries')
          .set(({ eb }) => ({ dueAtMs: untilMs, attempts: eb('attempts', '+', 1) }))
          .where('id', 'in', setOf(taken.map(({ id }) => id)))
          .execute();
      }
      return taken;
    },
  ),

  /** Stores the outcome of an attempt, unless the delivery is settled or was claimed again meanwhile. */
  setWebhookDelivery: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (
      db: Db,
      { id, attempts }: Pick<WebhookDeliveryRecord, 'id' | 'attempts'>,
      fields: Partial<Omit<WebhookDeliveryRecord, 'id' | 'webhookId' | 'eventId' | 'type' | 'createdAtMs'>>,
    ) =>
      db
        .updateTable('webhook_deliveries')
        .set(fields)
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .where('attempts', '=', attempts),
  ),

  /** Stores since when a webhook fails, and until when it pauses. */
  setWebhookHealth: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: WebhookId, health: Partial<Pick<WebhookRecord, 'failingSinceMs' | 'notBeforeMs'>>) =>
      db.updateTable('webhooks').set(health).where('id', '=', id),
  ),

  /** Makes failed deliveries due again, the oldest first. @returns how many */
  replayWebhookDeliveries: mutation(
    { audit: true, invalidates: nothing },
    async (
      db: Db,
      webhookId: WebhookId,
      { sinceMs, nowMs, limit }: { readonly sinceMs: number; readonly nowMs: number; readonly limit: number },
    ): Promise<number> => {
      const failed = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .where('state', '=', 'failed')
        .where('createdAtMs', '>=', sinceMs)
        .orderBy('id')
        .limit(limit)
        .execute();
      const ids = failed.map(({ id }) => id);
      if (ids.length > 0) {
        await db.updateTable('webhook_deliveries').set(dueAgain(nowMs)).where('id', 'in', ids).execute();
      }
      return ids.length;
    },
  ),

  /** Makes a settled delivery due again. */
  replayWebhookDelivery: statement(
    { audit: true, invalidates: nothing },
    (db: Db, id: WebhookDeliveryId, nowMs: number) =>
      db.updateTable('webhook_deliveries').set(dueAgain(nowMs)).where('id', '=', id),
  ),

  /** Deletes some deliveries of a webhook. @returns how many */
  deleteWebhookDeliveries: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, webhookId: WebhookId, limit: number): Promise<number> => {
      const some = db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .orderBy('id')
        .limit(limit);
      return deleteDeliveries(db, some);
    },
  ),

  /** Deletes deliveries that were settled before a time. @returns how many */
  deleteWebhookDeliveriesBefore: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, beforeMs: number, limit: number): Promise<number> => {
      let deleted = 0;
      for (const state of ['delivered', 'failed'] as const) {
        const some = db
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('state', '=', state)
          .where('dueAtMs', '<', beforeMs)
          .orderBy('dueAtMs')
          .limit(limit);
        deleted += await deleteDeliveries(db, some);
      }
      return deleted;
    },
  ),

  /** Deletes settled deliveries of a webhook beyond its newest ones. @returns how many */
  trimWebhookDeliveries: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (
      db: Db,
      webhookId: WebhookId,
      { kept, limit }: { readonly kept: number; readonly limit: number },
    ): Promise<number> => {
      const oldest = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .orderBy('id', 'desc')
        .limit(1)
        .offset(kept)
        .executeTakeFirst();
      if (oldest === undefined) return 0;
      const some = db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .where('id', '<=', oldest.id)
        .where('state', '!=', 'pending')
        .orderBy('id')
        .limit(limit);
      return deleteDeliveries(db, some);
    },
  ),
};

function dueAgain(nowMs: number) {
  return { state: 'pending', attempts: 0, dueAtMs: nowMs, error: null } as const;
}

async function deleteDeliveries(
  db: Db,
  ids: SelectQueryBuilder<Database, 'webhook_deliveries', { id: WebhookDeliveryId }>,
): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('webhook_deliveries').where('id', 'in', ids).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
