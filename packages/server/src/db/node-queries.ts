import type { ProcessId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Db } from './db.ts';
import { mutation, nothing, statement } from './mutation.ts';
import type { MaintenanceJob, MaintenanceRunRecord, NodeRecord, SeenNode } from './node-records.ts';

const maxNodes = 1000;

const maintenanceJobs = ['collect', 'maintenance', 'clock'] as const satisfies readonly MaintenanceJob[];

/** The database's clock, which all nodes share. SQLite returns it in whole seconds. */
const currentTime = sql<Date | string>`current_timestamp`;

function toMs(time: Date | string): number {
  return time instanceof Date ? time.getTime() : Date.parse(`${time.replace(' ', 'T')}Z`);
}

async function clockOf(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date | string }>`select ${currentTime} as now`.execute(db);
  return toMs(rows[0]?.now ?? '');
}

export const nodeQueries = {
  /** By id, at most {@link maxNodes}. */
  async nodes(db: Db): Promise<SeenNode[]> {
    const rows = await db
      .selectFrom('nodes')
      .select(['id', 'node', 'pid', 'version', 'startedAtMs', 'lastSeenAtMs'])
      .select(currentTime.as('now'))
      .orderBy('id')
      .limit(maxNodes)
      .execute();
    return rows.map(({ now, ...row }) => ({ ...row, silentMs: Math.max(0, toMs(now) - row.lastSeenAtMs) }));
  },

  maintenanceRuns: (db: Db): Promise<MaintenanceRunRecord[]> =>
    db
      .selectFrom('maintenance_runs')
      .select(['kind', 'endedAtMs', 'outcome'])
      .where('kind', 'in', maintenanceJobs)
      .execute(),
};

export const nodeMutations = {
  /** Stores a heartbeat. */
  putNode: mutation({ audit: false, invalidates: nothing }, async (db: Db, node: NodeRecord): Promise<void> => {
    const seen = { lastSeenAtMs: await clockOf(db) };
    await db
      .insertInto('nodes')
      .values({ ...node, ...seen })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(seen))
      .execute();
  }),

  deleteNode: statement({ audit: false, invalidates: nothing }, (db: Db, id: ProcessId) =>
    db.deleteFrom('nodes').where('id', '=', id),
  ),

  /** Deletes the nodes whose last heartbeat is older than `silentMs`. */
  deleteSilentNodes: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, silentMs: number): Promise<void> => {
      const beforeMs = (await clockOf(db)) - silentMs;
      await db.deleteFrom('nodes').where('lastSeenAtMs', '<', beforeMs).execute();
    },
  ),

  putMaintenanceRun: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, { kind, endedAtMs, outcome }: MaintenanceRunRecord): Promise<void> => {
      const ended = { endedAtMs, outcome };
      await db
        .insertInto('maintenance_runs')
        .values({ kind, ...ended })
        .onConflict((conflict) => conflict.column('kind').doUpdateSet(ended))
        .execute();
    },
  ),
};
