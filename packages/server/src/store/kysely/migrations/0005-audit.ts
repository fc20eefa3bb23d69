import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/*
 *   audit_events ┄┄ apps, users, sessions, tokens, …
 *
 * No foreign keys: rows outlive what they tell of. Each way of reading a trail has an index in whose order it is answered,
 * newest first, so that a page costs as much in a trail of a million rows as in one of ten.
 */
export const audit: Migration = {
  name: 'audit',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('audit_events')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('at_ms', bigint, (column) => column.notNull())
      .addColumn('action', text, (column) => column.notNull())
      .addColumn('app_id', text)
      .addColumn('account_id', text)
      .addColumn('author', text, (column) => column.notNull())
      .addColumn('user_id', text)
      .addColumn('user_name', text)
      .addColumn('via_id', text)
      .addColumn('via_name', text)
      .addColumn('address', text)
      .addColumn('target_id', text, (column) => column.notNull())
      .addColumn('target_name', text)
      .addColumn('details_json', text, (column) => column.notNull())
      .addColumn('guest_keys_json', text)
      .execute();

    const orders: Readonly<Record<string, readonly [columns: readonly string[], where: string | undefined]>> = {
      audit_events_by_time: [[], undefined],
      audit_events_of_app: [['app_id'], 'app_id'],
      audit_events_of_app_by_action: [['app_id', 'action'], 'app_id'],
      audit_events_of_app_by_user: [['app_id', 'user_id'], 'app_id'],
      audit_events_by_target: [['target_id', 'app_id'], undefined],
      audit_events_of_account: [['account_id'], 'account_id'],
    };
    for (const [name, [columns, where]] of Object.entries(orders)) {
      const index = db.schema
        .createIndex(name)
        .on('audit_events')
        .columns([...columns, 'at_ms', 'id']);
      await (where === undefined ? index : index.where(sql.ref(where), 'is not', null)).execute();
    }
  },
};
