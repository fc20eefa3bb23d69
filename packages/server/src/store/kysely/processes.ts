import type { ProcessId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { ChoreKind, ChoreRecord, ProcessRecord, SeenProcess } from '../../domain/status/ports.ts';
import type { Db } from './db.ts';
import { mutation, nothing } from './mutation.ts';

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

export const processQueries = {
  /** By id; a thousand at the most. */
  async processes(db: Db): Promise<SeenProcess[]> {
    const rows = await db
      .selectFrom('processes')
      .select(['id', 'node', 'pid', 'version', 'startedAtMs', 'lastSeenAtMs'])
      .select(['reportJson', currentTime.as('now')])
      .orderBy('id')
      .limit(atMost)
      .execute();
    return rows.map(({ now, ...row }) => ({ ...row, silentMs: Math.max(0, toMs(now) - row.lastSeenAtMs) }));
  },

  async chores(db: Db): Promise<ChoreRecord[]> {
    const rows = await db
      .selectFrom('chores')
      .select(['kind', 'endedAtMs', 'outcome'])
      .where('kind', 'in', choreKinds)
      .execute();
    return rows;
  },
};

export const processMutations = {
  /** Notes what a process tells of itself, and that it does so now. */
  putProcess: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, { id, node, pid, version, startedAtMs, reportJson }: ProcessRecord): Promise<void> => {
      const seen = { lastSeenAtMs: await clockOf(db), reportJson };
      await db
        .insertInto('processes')
        .values({ id, node, pid, version, startedAtMs, ...seen })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(seen))
        .execute();
    },
  ),

  deleteProcess: mutation({ audit: false, invalidates: nothing }, async (db: Db, id: ProcessId): Promise<void> => {
    await db.deleteFrom('processes').where('id', '=', id).execute();
  }),

  /** Forgets the processes that nobody has heard of for so long. */
  deleteSilentProcesses: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, silentMs: number): Promise<void> => {
      const beforeMs = (await clockOf(db)) - silentMs;
      await db.deleteFrom('processes').where('lastSeenAtMs', '<', beforeMs).execute();
    },
  ),

  putChore: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, { kind, endedAtMs, outcome }: ChoreRecord): Promise<void> => {
      const ended = { endedAtMs, outcome };
      await db
        .insertInto('chores')
        .values({ kind, ...ended })
        .onConflict((conflict) => conflict.column('kind').doUpdateSet(ended))
        .execute();
    },
  ),
};
