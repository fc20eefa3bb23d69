import type { AppId, AuditEventId, UserId, WebhookDeliveryId, WebhookDeliveryState, WebhookId } from '@tenon/protocol';
import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import type { AccountAuditEvent } from '../db/audit-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { inChunks, paged, setOf } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type Database } from '../db/records.ts';
import type {
  DueWebhook,
  WebhookBacklog,
  WebhookDeliveryRecord,
  WebhookQueueSummary,
  WebhookRecord,
  WebhookSecretRecord,
} from '../db/webhook-records.ts';

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

  /**
   * The webhooks that have deliveries that are due, and don't pause, by id. Reads no more than a row of each webhook, however many of its
   * deliveries are pending.
   */
  dueWebhooks: (db: Db, nowMs: number, { after, limit }: { readonly after: WebhookId | ''; readonly limit: number }) =>
    db
      .withRecursive('waiting(webhookId)', (cte) =>
        cte
          .selectFrom('webhook_deliveries')
          .select(({ fn }) => fn.min<WebhookId | null>('webhookId').as('webhookId'))
          .where('state', '=', 'pending')
          .where('webhookId', '>', after as WebhookId)
          .unionAll(
            cte
              .selectFrom('waiting')
              .select((waiting) =>
                waiting
                  .selectFrom('webhook_deliveries')
                  .select(({ fn }) => fn.min<WebhookId | null>('webhook_deliveries.webhookId').as('webhookId'))
                  .where('state', '=', 'pending')
                  .whereRef('webhook_deliveries.webhookId', '>', 'waiting.webhookId')
                  .as('webhookId'),
              )
              .where('waiting.webhookId', 'is not', null),
          ),
      )
      .selectFrom('waiting')
      .innerJoin('webhooks', 'webhooks.id', 'waiting.webhookId')
      .innerJoin('webhook_deliveries', (join) => join.on((on) => on('webhook_deliveries.id', '=', nextDue(on, nowMs))))
      .select(columns.webhooks)
      .select('webhook_deliveries.dueAtMs')
      .select((webhook) =>
        webhook
          .selectFrom('members')
          .select(({ fn }) => fn.min<UserId | null>('members.userId').as('userId'))
          .whereRef('members.appId', '=', 'webhooks.appId')
          .where('members.role', '=', 'owner')
          .as('ownerId'),
      )
      .where('webhooks.notBeforeMs', '<=', nowMs)
      .limit(limit)
      .execute() satisfies Promise<DueWebhook[]>,

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
      await inChunks(deliveries, (chunk) =>
        db
          .insertInto('webhook_deliveries')
          .values(chunk)
          .onConflict((conflict) => conflict.columns(['webhookId', 'eventId']).doNothing())
          .execute(),
      );
    },
  ),

  /** Takes the first delivery of each webhook that is due, so that other processes leave it alone until a time. */
  claimWebhookDeliveries: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      webhookIds: readonly WebhookId[],
      { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
    ): Promise<ClaimedDelivery[]> => {
      const webhooks = await db
        .selectFrom('webhooks')
        .select(columns.webhooks)
        .where('id', 'in', setOf(webhookIds))
        .where('notBeforeMs', '<=', nowMs)
        .execute();
      const due = await db
        .selectFrom('webhooks')
        .innerJoin('webhook_deliveries', (join) =>
          join.on((on) => on('webhook_deliveries.id', '=', nextDue(on, nowMs))),
        )
        .select(columns.webhookDeliveries)
        .where('webhooks.id', 'in', setOf(webhooks.map(({ id }) => id)))
        .execute();
      if (due.length === 0) return [];
      await db
        .updateTable('webhook_deliveries')
        .set(({ eb }) => ({ dueAtMs: untilMs, attempts: eb('attempts', '+', 1) }))
        .where('id', 'in', setOf(due.map(({ id }) => id)))
        .execute();
      const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
      return due.flatMap((delivery) => {
        const webhook = byId.get(delivery.webhookId);
        return webhook === undefined ? [] : [{ ...delivery, attempts: delivery.attempts + 1, webhook }];
      });
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

/** The id of the delivery of a webhook that was due first. */
function nextDue(eb: ExpressionBuilder<Database, 'webhooks'>, nowMs: number) {
  return eb
    .selectFrom('webhook_deliveries as next')
    .select('next.id')
    .whereRef('next.webhookId', '=', 'webhooks.id')
    .where('next.state', '=', 'pending')
    .where('next.dueAtMs', '<=', nowMs)
    .orderBy('next.dueAtMs')
    .limit(1);
}

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
