import { Kysely } from 'kysely';
import type { Database } from '../domain/records.ts';
import { readingDialect, writingDialect } from '../store/sqlite/dialect.ts';
import { openReader, openWriter } from '../store/sqlite/files.ts';
import { whenFree } from '../store/sqlite/patience.ts';
import type { Metadata } from './metadata.ts';

const waitMs = 10_000;

export async function openSqliteMetadata(file: string): Promise<Metadata> {
  const writer = await openWriter(file, waitMs);
  const db = new Kysely<Database>({ dialect: writingDialect({ database: writer, waitMs }) });
  return {
    db,
    // Transactions that write come one after the other: what comes after a freeze sees it.
    async snapshot(_isFrozen, work) {
      const reader = openReader(file);
      try {
        reader.exec('begin');
        await whenFree(() => reader.prepare('select count(*) from schema_versions').get(), waitMs); // the moment
        return await work(new Kysely<Database>({ dialect: readingDialect({ database: reader, waitMs }) }));
      } finally {
        reader.close();
      }
    },
    refreeze: (work) => db.transaction().execute(work),
    async announce() {}, // servers see every commit by themselves
    async close() {
      writer.close();
    },
  };
}
