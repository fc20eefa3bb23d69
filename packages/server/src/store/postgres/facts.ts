import { sql } from 'kysely';
import type { StoreFacts } from '../../domain/status/ports.ts';
import type { Db } from '../kysely/db.ts';
import { type EstimateRows, schemaVersionOf } from '../kysely/sizes.ts';

export async function factsOf(db: Db): Promise<StoreFacts> {
  const { rows } = await sql<{ version: string; bytes: number }>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as bytes
  `.execute(db);
  const { version = '', bytes = 0 } = rows[0] ?? {};
  return { version, bytes, schemaVersion: await schemaVersionOf(db) };
}

/** What vacuum and analyze have last found (https://www.postgresql.org/docs/current/catalog-pg-class.html). */
export function estimateRows(db: Db): EstimateRows {
  return async (table) => {
    const { rows } = await sql<{ rows: number }>`
      select cast(reltuples as bigint) as rows from pg_class where oid = to_regclass(${table})
    `.execute(db);
    return rows[0]?.rows ?? 0;
  };
}
