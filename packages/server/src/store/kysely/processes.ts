import { sql } from 'kysely';
import type { ChoreKind, StatusMutations, StatusQueries } from '../../domain/status/ports.ts';
import type { Db } from './db.ts';

const atMost = 1000;

const choreKinds = ['collect', 'verify', 'backup', 'maintenance', 'clock'] as const satisfies readonly ChoreKind[];

/** The database's own clock, which is the same one for all nodes: a word that both databases have, SQLite to the second. */
const currentTime = sql<Date | string>`current_timestamp`;

function toMs(time: Date | string): number {
  return time instanceof Date ? time.getTime() : Date.parse(`${time.replace(' ', 'T')}Z`);
}

async function clockOf(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date | string }>`select ${currentTime} as now`.execute(db);
  return toMs(rows[0]?.now ?? '');
}

export function processQueries(db: Db): Pick<StatusQueries, 'processes' | 'chores'> {
  return {
    async processes() {
      const rows = await db
        .selectFrom('processes')
        .select(['id', 'node', 'pid', 'version', 'startedAtMs', 'lastSeenAtMs'])
        .select(['reportJson', currentTime.as('now')])
        .orderBy('id')
        .limit(atMost)
        .execute();
      return rows.map(({ now, ...row }) => ({ ...row, silentMs: Math.max(0, toMs(now) - row.lastSeenAtMs) }));
    },
    async chores() {
      const rows = await db
        .selectFrom('chores')
        .select(['kind', 'endedAtMs', 'outcome'])
        .where('kind', 'in', choreKinds)
        .execute();
      return rows;
    },
  };
}

export function processMutations(
  db: Db,
): Pick<StatusMutations, 'putProcess' | 'deleteProcess' | 'deleteSilentProcesses' | 'putChore'> {
  return {
    async putProcess({ id, node, pid, version, startedAtMs, reportJson }) {
      const seen = { lastSeenAtMs: await clockOf(db), reportJson };
      await db
        .insertInto('processes')
        .values({ id, node, pid, version, startedAtMs, ...seen })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(seen))
        .execute();
    },
    async deleteProcess(id) {
      await db.deleteFrom('processes').where('id', '=', id).execute();
    },
    async deleteSilentProcesses(silentMs) {
      const beforeMs = (await clockOf(db)) - silentMs;
      await db.deleteFrom('processes').where('lastSeenAtMs', '<', beforeMs).execute();
    },
    async putChore({ kind, endedAtMs, outcome }) {
      const ended = { endedAtMs, outcome };
      await db
        .insertInto('chores')
        .values({ kind, ...ended })
        .onConflict((conflict) => conflict.column('kind').doUpdateSet(ended))
        .execute();
    },
  };
}
