import { Kysely, sql } from 'kysely';
import type { Database } from '../store/kysely/schema.ts';
import { poolDialect } from '../store/postgres/dialect.ts';
import { openPool } from '../store/postgres/pool.ts';
import { channel } from '../store/postgres/revision.ts';
import type { Metadata } from './end.ts';

/** How long the other end may take for a batch, or transactions that began before a freeze to end. */
const waitMs = 5 * 60_000;

export async function openPostgresMetadata(url: string): Promise<Metadata> {
  const pool = openPool({ url, waitMs }, 3);
  const db = new Kysely<Database>({ dialect: poolDialect(pool) });
  try {
    await sql`select 1`.execute(db);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    db,
    snapshot: (isFrozen, work) =>
      db.transaction().execute(async (tx) => {
        // A deferrable one waits until those that overlap have ended, and takes a later moment when one of them went past the
        // freeze: https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE
        const level = isFrozen ? 'serializable, read only, deferrable' : 'repeatable read, read only';
        await sql`set transaction isolation level ${sql.raw(level)}`.execute(tx);
        return work(tx);
      }),
    async announce() {
      await sql`select pg_notify(${channel}, 'moved')`.execute(db);
    },
    close: () => pool.end(),
  };
}
