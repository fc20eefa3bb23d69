import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/all.ts';
import { columnTypes, writingDialect } from '../../db/sqlite/dialect.ts';

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of the primary key. Both databases sort by them alike. */
  readonly key: readonly string[];
}

/**
 * Tables that are not copied: they describe one store and the servers on it. The copier writes the rows of `blobs` itself, for the
 * contents that versions name.
 */
const ownTables = new Set([
  'schema_versions',
  'leases',
  'nodes',
  'maintenance_runs',
  'commits',
  'blobs',
  'blob_deletions',
]);

/** Every table to copy, referenced tables first: read from an empty database with the newest schema. */
export async function readCopiedTables(): Promise<readonly CopiedTable[]> {
  const database = new DatabaseSync(':memory:');
  try {
    const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    await migrate((work) => db.transaction().execute(work), migrations, columnTypes, Date.now);
    const ask = (query: string, ...parameters: string[]): string[] =>
      database
        .prepare(query)
        .all(...parameters)
        .map((row) => String(Object.values(row)[0]));
    const ordered = new Set<string>();
    const add = (name: string): void => {
      if (ordered.has(name)) return;
      for (const parent of ask('select "table" from pragma_foreign_key_list(?)', name))
        if (parent !== name) add(parent);
      ordered.add(name);
    };
    ask("select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'").forEach(add);
    return [...ordered]
      .filter((name) => !ownTables.has(name))
      .map((name) => ({
        name,
        columns: ask('select name from pragma_table_info(?)', name),
        key: ask('select name from pragma_table_info(?) where pk > 0 order by pk', name),
      }));
  } finally {
    database.close();
  }
}
