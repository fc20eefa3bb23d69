import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Clock } from './store.ts';

/** The SQL types of columns in a dialect. `text` compares byte by byte, so that both databases sort alike. `bigint` has 64 bits. */
export interface ColumnTypes {
  readonly text: RawBuilder<unknown>;
  readonly bigint: RawBuilder<unknown>;
  readonly boolean: RawBuilder<unknown>;
  readonly json: RawBuilder<unknown>;
}

/** A migration to the next version of the schema. A version's number is its migration's position in the list, from 1. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
}

/** The database's schema has a version that this release doesn't know. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  readonly found: number;
  readonly known: number;

  constructor(found: number, known: number) {
    super(
      `Cannot use the database: its schema has version ${found}, and this release of Tenon knows versions up to ${known}. ` +
        'Run the release that last wrote to it, or a newer one.',
    );
    this.found = found;
    this.known = known;
  }
}

interface SchemaVersions {
  schema_versions: { version: number; name: string; applied_at_ms: number };
}

/** Runs the work in a transaction that excludes all other migrations, also those of other processes. */
export type LockedTransaction = <T>(work: (db: Transaction<unknown>) => Promise<T>) => Promise<T>;

/**
 * Migrates the schema to the newest version, with one transaction per migration.
 *
 * @throws NewerSchemaError for a database that a newer release has migrated; the database is then unchanged
 */
export async function migrate(
  locked: LockedTransaction,
  migrations: readonly Migration[],
  types: ColumnTypes,
  clock: Clock,
): Promise<void> {
  while (await locked((db) => migrateOnce(db, migrations, types, clock)));
}

/** Applies the next migration. @returns whether there was one */
async function migrateOnce(
  db: Transaction<unknown>,
  migrations: readonly Migration[],
  types: ColumnTypes,
  clock: Clock,
): Promise<boolean> {
  const versions = db as unknown as Transaction<SchemaVersions>;
  await versions.schema
    .createTable('schema_versions')
    .ifNotExists()
    .addColumn('version', types.bigint, (column) => column.primaryKey())
    .addColumn('name', types.text, (column) => column.notNull())
    .addColumn('applied_at_ms', types.bigint, (column) => column.notNull())
    .execute();
  const newest = await versions
    .selectFrom('schema_versions')
    .select((eb) => eb.fn.coalesce(eb.fn.max('version'), sql<number>`0`).as('version'))
    .executeTakeFirstOrThrow();
  if (newest.version > migrations.length) throw new NewerSchemaError(newest.version, migrations.length);
  const next = migrations[newest.version];
  if (next === undefined) return false;
  await next.up(db, types);
  await versions
    .insertInto('schema_versions')
    .values({ version: newest.version + 1, name: next.name, applied_at_ms: clock() })
    .execute();
  return true;
}
