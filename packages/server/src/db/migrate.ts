import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Clock } from './store.ts';

/**
 * How a dialect writes the types of columns. `text` compares byte by byte (in PostgreSQL: `text collate "C"`), so that both
 * databases sort alike; `bigint` has 64 bits. Columns of `boolean` and `json` are read as what they hold.
 */
export interface ColumnTypes {
  readonly text: RawBuilder<unknown>;
  readonly bigint: RawBuilder<unknown>;
  readonly boolean: RawBuilder<unknown>;
  readonly json: RawBuilder<unknown>;
}

/** One step from a version of the schema to the next. The number of a version is the place of its migration in the list. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
}

/** The database's schema is of a version that this release doesn't know. */
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

/** Runs the work in a transaction that no other migration, of this process or another, runs beside. */
export type LockedTransaction = <T>(work: (db: Transaction<unknown>) => Promise<T>) => Promise<T>;

/**
 * Brings the schema to the newest version, each step in a transaction of its own. Who comes second while another process
 * migrates waits for the lock and then finds nothing to do.
 *
 * @throws NewerSchemaError for a database that a newer release has migrated; nothing is changed then
 */
export async function migrate(
  locked: LockedTransaction,
  migrations: readonly Migration[],
  types: ColumnTypes,
  clock: Clock,
): Promise<void> {
  while (await locked((db) => migrateOnce(db, migrations, types, clock)));
}

/** Makes the next step, when there is one. */
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
