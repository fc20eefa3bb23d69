import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../domain/records.ts';
import type { Counted, StoreSizes } from '../../domain/status/ports.ts';
import type { Db } from './db.ts';

/** Up to so many rows are counted: reading them takes a millisecond or so. */
const countedRows = 10_000;

/** About how many rows a table has, found without reading them. */
export type EstimateRows = (table: keyof Database) => Promise<number>;

/** Tells how much there is, reading so much of each table at the most. */
export async function sizesOf(db: Db, estimate: EstimateRows): Promise<StoreSizes> {
  const count = (table: keyof Database, where = sql``) => countRows(db, estimate, table, where);
  return {
    accounts: await count('users', sql`where "deletedAtMs" is null`),
    apps: await count('apps'),
    extensionPoints: await count('extension_points'),
    guests: await count('guests'),
    plugins: await count('plugins'),
    versions: await count('versions'),
    bindings: await count('bindings'),
    ...(await contents(db, await count('blobs'))),
  };
}

async function countRows(
  db: Db,
  estimate: EstimateRows,
  table: keyof Database,
  where: RawBuilder<unknown>,
): Promise<Counted> {
  const { rows } = await sql<{ value: number }>`
    select count(*) as value from (select 1 from ${sql.table(table)} ${where} limit ${sql.lit(countedRows + 1)}) as few
  `.execute(db);
  const value = rows[0]?.value ?? 0;
  if (value <= countedRows) return { value, isEstimate: false };
  return { value: Math.max(value, await estimate(table)), isEstimate: true };
}

/** Addresses are hashes, so the first of them in their order are as good as any others: their size stands for that of all. */
async function contents(db: Db, count: Counted): Promise<Pick<StoreSizes, 'contents' | 'contentBytes'>> {
  const { rows } = await sql<{ bytes: number }>`
    select cast(coalesce(sum(size), 0) as bigint) as bytes
    from (select size from blobs order by address limit ${sql.lit(countedRows)}) as few
  `.execute(db);
  const bytes = rows[0]?.bytes ?? 0;
  const { value, isEstimate } = count;
  const total = isEstimate ? Math.round((bytes / countedRows) * value) : bytes;
  return { contents: count, contentBytes: { value: total, isEstimate } };
}

/** The number of the last migration. */
export async function schemaVersionOf(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`select max(version) as version from schema_versions`.execute(db);
  return rows[0]?.version ?? 0;
}
