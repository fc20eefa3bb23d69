import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/all.ts';
import { columnTypes, writingDialect } from '../../db/sqlite/dialect.ts';

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of the primary key. Both databases have the same order of keys. */
  readonly key: readonly string[];
}

/**
 * Tables that are not copied, because they describe the store itself and its servers. `replaceBlobRows()` writes the rows of `blobs`. The queue
 * of mails is not copied, so that no mail is sent twice: the original may send it. Sign-ins and uploads in progress start again.
 */
const internalTables = new Set([
  'schema_versions',
  'leases',
  'nodes',
  'maintenance_runs',
  'usage_writers',
  'commits',
  'blobs',
  'blob_deletions',
  'mails',
  'pending_sign_ins',
  'passkey_challenges',
  'oci_uploads',
  'oci_chunks',
]);

/** Reads the tables to copy from an empty database with the newest schema. Returns referenced tables first. */
export async function readCopiedTables(): Promise<readonly CopiedTable[]> {
  const database = new DatabaseSync(':memory:');
  try {
    const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    await migrate((work) => db.transaction().execute(work), migrations, columnTypes, Date.now);
    const select = (query: string, ...parameters: string[]): string[] =>
      database
        .prepare(query)
        .all(...parameters)
        .map((row) => String(Object.values(row)[0]));
    const ordered = new Set<string>();
    const add = (name: string): void => {
      if (ordered.has(name)) return;
      const parents = select('select "table" from pragma_foreign_key_list(?)', name);
      for (const parent of parents) if (parent !== name) add(parent);
      ordered.add(name);
    };
    const names = "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'";
    select(names).forEach(add);
    return [...ordered]
      .filter((name) => !internalTables.has(name))
      .map((name) => ({
        name,
        columns: select('select name from pragma_table_info(?)', name),
        key: select('select name from pragma_table_info(?) where pk > 0 order by pk', name),
      }));
  } finally {
    database.close();
  }
}
