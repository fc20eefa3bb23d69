import type { Migration } from '../migrate.ts';

/** The index with which webhooks take turns: their pending deliveries, in the order in which they are due. */
export const webhookQueue: Migration = {
  name: 'webhook queue',
  async up(db) {
    await db.schema
      .createIndex('webhook_deliveries_by_due')
      .on('webhook_deliveries')
      .columns(['state', 'webhookId', 'dueAtMs'])
      .execute();
  },
};
