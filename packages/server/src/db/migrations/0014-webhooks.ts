import type { Migration } from '../migrate.ts';

/** Webhooks of applications, their signing secrets, and their deliveries. */
export const webhooks: Migration = {
  name: 'webhooks',
  async up(db, { text, bigint, json }) {
    await db.schema
      .createTable('webhooks')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('appId', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('url', text, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('actions', json)
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('afterSeq', bigint, (column) => column.notNull())
      .addColumn('failingSinceMs', bigint)
      .addColumn('notBeforeMs', bigint, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('updatedAtMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('webhooks_by_app').on('webhooks').columns(['appId', 'id']).execute();
    await db.schema.createIndex('webhooks_by_state').on('webhooks').column('state').execute();
    await db.schema
      .createTable('webhook_secrets')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('webhookId', text, (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('secret', text, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('expiresAtMs', bigint)
      .execute();
    const secrets = (name: string) => db.schema.createIndex(name).on('webhook_secrets');
    await secrets('webhook_secrets_by_webhook').columns(['webhookId', 'id']).execute();
    await secrets('webhook_secrets_by_end').column('expiresAtMs').execute();
    await db.schema
      .createTable('webhook_deliveries')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('webhookId', text, (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('eventId', text, (column) => column.notNull().references('audit_events.id').onDelete('cascade'))
      .addColumn('type', text, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('attempts', bigint, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('dueAtMs', bigint, (column) => column.notNull())
      .addColumn('attemptedAtMs', bigint)
      .addColumn('durationMs', bigint)
      .addColumn('status', bigint)
      .addColumn('error', text)
      .addColumn('response', text)
      .addUniqueConstraint('webhook_deliveries_once', ['webhookId', 'eventId'])
      .execute();
    const deliveries = (name: string) => db.schema.createIndex(name).on('webhook_deliveries');
    await deliveries('webhook_deliveries_by_webhook').columns(['webhookId', 'id']).execute();
    await deliveries('webhook_deliveries_by_webhook_state').columns(['webhookId', 'state', 'id']).execute();
    await deliveries('webhook_deliveries_by_state').columns(['state', 'dueAtMs']).execute();
    await deliveries('webhook_deliveries_by_event').column('eventId').execute();
  },
};
