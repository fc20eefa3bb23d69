import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../migrate.ts';

/*
 *   blobs              a row's generation is a part of its object's name, and is never used twice
 *   blob_deletions     objects of dead generations
 */

/** What was stored so far has the generation '': its objects are named by their digests alone. */
export async function nameGenerations(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('blob_deletions')
    .addColumn('address', text, (column) => column.notNull())
    .addColumn('generation', text, (column) => column.notNull())
    .addColumn('size', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('blob_deletions_pk', ['address', 'generation'])
    .execute();
  const isNamed = sql`exists (select 1 from versions where content_address = address)`;
  await sql`
    insert into blob_deletions (address, generation, size)
    select address, '', size from blobs where state = 'deleting' and not ${isNamed}
  `.execute(db);
  await sql`delete from blobs where state = 'deleting' and not ${isNamed}`.execute(db);
  await sql`update blobs set state = 'present', unused_since_ms = null where state = 'deleting'`.execute(db);
  await sql`drop index blobs_being_deleted`.execute(db);
  await db.schema.alterTable('blobs').renameColumn('epoch', 'generation').execute();
  await sql`update blobs set generation = ''`.execute(db);
}
