import { sql } from 'kysely';
import type { StoreFacts } from '../../domain/status/ports.ts';
import type { Db } from '../kysely/db.ts';
import { type EstimateRows, schemaVersionOf } from '../kysely/sizes.ts';

export async function factsOf(db: Db): Promise<StoreFacts> {
  const { rows } = await sql<{ version: string; bytes: number }>`
    select sqlite_version() as version, page_count * page_size as bytes from pragma_page_count(), pragma_page_size()
  `.execute(db);
  const { version = '', bytes = 0 } = rows[0] ?? {};
  return { version, bytes, schemaVersion: await schemaVersionOf(db) };
}

/** Rows are numbered as they come, and few are deleted of those of which there are many (https://www.sqlite.org/rowidtable.html). */
export function estimateRows(db: Db): EstimateRows {
  return async (table) => {
    const { rows } = await sql<{ rows: number | null }>`
      select (select max(rowid) from ${sql.table(table)}) - (select min(rowid) from ${sql.table(table)}) + 1 as rows
    `.execute(db);
    return rows[0]?.rows ?? 0;
  };
}
