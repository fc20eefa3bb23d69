import { Kysely, sql } from 'kysely';
import { UnavailableError } from '../domain/ports.ts';
import type { Database } from '../domain/records.ts';
import { poolDialect } from '../store/postgres/dialect.ts';
import { isOvertaken } from '../store/postgres/errors.ts';
import { openPool } from '../store/postgres/pool.ts';
import { channel } from '../store/postgres/revision.ts';
import type { Metadata } from './metadata.ts';

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
    // Were it not serialisable, PostgreSQL would not know what was read past it.
    refreeze: (work) => runSerialised(() => db.transaction().setIsolationLevel('serializable').execute(work)),
    async announce(tx) {
      await sql`select pg_notify(${channel}, 'moved')`.execute(tx);
    },
    close: () => pool.end(),
  };
}

const maxAttempts = 10;

/** Runs a transaction again that others were faster than. */
async function runSerialised<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const isOthers = error instanceof UnavailableError && isOvertaken(error.cause);
      if (!isOthers || attempt === maxAttempts) throw error;
    }
  }
}
