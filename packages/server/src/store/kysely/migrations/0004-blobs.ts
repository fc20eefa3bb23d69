import { type Kysely, sql } from 'kysely';
import type { ColumnTypes, Migration } from '../migrate.ts';

/*
 *   versions ┄┄ content_address ┄┄ blobs          leases
 *
 * A row for all bytes that there are or will be, so that who stores them and who deletes them see each other. It is no foreign
 * key: rows come before versions and go after them. What versions name gets its row here; files that none names get one from
 * the collector, when it finds them.
 */
export const blobs: Migration = {
  name: 'blobs',
  async up(db, types) {
    await makeBlobs(db, types);
    await db.schema
      .createTable('leases')
      .addColumn('kind', types.text, (column) => column.notNull())
      .addColumn('holder', types.text, (column) => column.notNull())
      .addColumn('until_ms', types.bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('leases_pk', ['kind', 'holder'])
      .execute();
  },
};

async function makeBlobs(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('blobs')
    .addColumn('address', text, (column) => column.notNull().primaryKey())
    .addColumn('size', bigint, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('epoch', text, (column) => column.notNull())
    .addColumn('lease_until_ms', bigint, (column) => column.notNull())
    .addColumn('unused_since_ms', bigint)
    .execute();
  await db.schema
    .createIndex('blobs_unused')
    .on('blobs')
    .column('unused_since_ms')
    .where(sql.ref('unused_since_ms'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('blobs_being_deleted')
    .on('blobs')
    .column('address')
    .where(sql.ref('state'), '=', sql.lit('deleting'))
    .execute();
  await sql`
    insert into blobs (address, size, state, epoch, lease_until_ms, unused_since_ms)
    select content_address, max(size), 'present', 'migrated', 0, null from versions group by content_address
  `.execute(db);
}
