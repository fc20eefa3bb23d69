import type { ExtensionPointId, SimulationRunId, UserId, Verdict, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { pluginDocumentsTag } from '../cache/cache-tag.ts';
import { type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { inChunks, setOf } from '../db/page-queries.ts';
import { columns, type PluginKey, type VersionRecord } from '../db/records.ts';
import type { SimulationQueueSummary, SimulationRunRecord } from '../db/simulation-run-records.ts';

/** How many runs of a version are kept: the newest, and a history. */
export const maxRunsOfVersion = 6;

/** How many of a plugin's versions keep the reports of their newest run. */
export const maxReportedVersions = 5;

const runs = (db: Db) => db.selectFrom('simulation_runs').select(columns.simulationRuns);

// A literal, not a parameter, so that the planner can use the partial indexes.
const isOpen = sql<boolean>`simulation_runs.state <> 'done'`;

export const simulationRunQueries = {
  hasSimulations: (db: Db, id: ExtensionPointId): Promise<boolean> =>
    hasRow(db.selectFrom('simulations').select('id').where('extensionPointId', '=', id)),

  /** The runs of a version, the newest first. */
  simulationRuns: (db: Db, versionId: VersionId): Promise<SimulationRunRecord[]> =>
    runs(db).where('versionId', '=', versionId).orderBy('id', 'desc').limit(maxRunsOfVersion).execute(),

  /** The runs of versions that are done, the newest first. */
  doneSimulationRuns: (db: Db, versionIds: readonly VersionId[]): Promise<SimulationRunRecord[]> =>
    inChunks(versionIds, (chunk) =>
      runs(db).where('versionId', 'in', chunk).where('state', '=', 'done').orderBy('id', 'desc').execute(),
    ),

  simulationRun: (db: Db, id: SimulationRunId): Promise<SimulationRunRecord | undefined> =>
    runs(db).where('id', '=', id).executeTakeFirst(),

  /** The run of a version that is not done. */
  openSimulationRun: (db: Db, versionId: VersionId): Promise<SimulationRunRecord | undefined> =>
    runs(db).where('versionId', '=', versionId).where(isOpen).executeTakeFirst(),

  /** The next run that is due: of the account whose last run started the longest ago, its oldest. Leaves out busy accounts. */
  async dueSimulationRun(
    db: Db,
    nowMs: number,
    busy: readonly UserId[] = [],
  ): Promise<Pick<SimulationRunRecord, 'id' | 'userId'> | undefined> {
    const due = db
      .selectFrom('simulation_runs')
      .select(['simulation_runs.id', 'simulation_runs.userId'])
      .where(isOpen)
      .where('simulation_runs.state', 'in', ['queued', 'running'])
      .where('simulation_runs.dueAtMs', '<=', nowMs)
      .orderBy((eb) =>
        eb.fn.coalesce(
          eb
            .selectFrom('simulation_runs as others')
            .select(({ fn }) => fn.max('others.startedAtMs').as('startedAtMs'))
            .whereRef('others.userId', '=', 'simulation_runs.userId')
            .$asScalar(),
          sql<number>`0`,
        ),
      )
      .orderBy('simulation_runs.dueAtMs')
      .orderBy('simulation_runs.id');
    const ofOthers = busy.length === 0 ? due : due.where('simulation_runs.userId', 'not in', setOf(busy));
    return ofOthers.limit(1).executeTakeFirst();
  },

  async simulationQueue(db: Db): Promise<SimulationQueueSummary> {
    const count = (state: 'queued' | 'running') =>
      db
        .selectFrom('simulation_runs')
        .select(({ fn }) => [
          fn.countAll<number | string>().as('count'),
          fn.count<number | string>('verdict').as('errored'),
          fn.min('createdAtMs').as('oldestMs'),
        ])
        .where(isOpen)
        .where('state', '=', state)
        .executeTakeFirstOrThrow();
    const [queued, running] = [await count('queued'), await count('running')];
    return {
      queued: Number(queued.count),
      running: Number(running.count),
      errored: Number(queued.errored),
      oldestQueuedAtMs: queued.oldestMs === null ? null : Number(queued.oldestMs),
    };
  },

  versionById: (db: Db, id: VersionId): Promise<VersionRecord | undefined> =>
    db.selectFrom('versions').select(columns.versions).where('id', '=', id).$castTo<VersionRecord>().executeTakeFirst(),

  /** The stored `ModuleInterface` of a version, as JSON. */
  async interfaceOf(db: Db, id: VersionId): Promise<string | null> {
    const found = await db.selectFrom('versions').select('interfaceJson').where('id', '=', id).executeTakeFirst();
    return found?.interfaceJson ?? null;
  },
};

/** What a process stores of its attempt. */
type RunResult = Pick<SimulationRunRecord, 'state' | 'verdict' | 'detail' | 'dueAtMs' | 'reportsJson'>;

/** The size of the reports, for the quota of the application. */
function sizeOf({ reportsJson }: Partial<RunResult>): { readonly reportBytes?: number } {
  if (reportsJson === undefined) return {};
  return { reportBytes: reportsJson === '[]' ? 0 : Buffer.byteLength(reportsJson) };
}

const open = (db: Db, id: SimulationRunId) => db.updateTable('simulation_runs').where('id', '=', id).where(isOpen);

export const simulationRunMutations = {
  insertSimulationRun: statement({ audit: true, invalidates: nothing }, (db: Db, run: SimulationRunRecord) =>
    db.insertInto('simulation_runs').values({
      ...run,
      appId: (eb) => eb.selectFrom('versions').select('versions.appId').where('versions.id', '=', run.versionId),
      reportBytes: 0,
    }),
  ),

  /** Takes a run that is due, so that other processes leave it alone until a time. */
  claimSimulationRun: mutation(
    { audit: false, invalidates: nothing },
    (
      db: Db,
      id: SimulationRunId,
      { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
    ): Promise<SimulationRunRecord | undefined> =>
      open(db, id)
        .set(({ eb }) => ({
          state: 'running',
          dueAtMs: untilMs,
          startedAtMs: nowMs,
          attempts: eb('attempts', '+', 1),
        }))
        .where('dueAtMs', '<=', nowMs)
        .returning(columns.simulationRuns)
        .executeTakeFirst(),
  ),

  /** Extends the lease of a claim. @returns whether the claim still exists */
  renewSimulationRun: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, { id, attempts }: SimulationRunRecord, untilMs: number): Promise<boolean> => {
      const { numUpdatedRows } = await open(db, id)
        .set({ dueAtMs: untilMs })
        .where('attempts', '=', attempts)
        .where('state', '=', 'running')
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  ),

  /** Stores the result of an attempt, or queues the run again. Requires the claim: check it in the same transaction. */
  updateSimulationRun: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: SimulationRunId, result: Partial<RunResult>) => open(db, id).set({ ...result, ...sizeOf(result) }),
  ),

  deleteSimulationRun: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: SimulationRunId) => db.deleteFrom('simulation_runs').where('id', '=', id),
  ),

  /**
   * Bounds what the runs of a plugin take, after a test of a version. Deletes all runs of the version but the newest
   * {@link maxRunsOfVersion}. Empties the reports of all but its newest run, and those of versions older than the newest
   * {@link maxReportedVersions}. The verdicts and their reasons stay.
   */
  pruneSimulationRuns: mutation(
    { audit: false, invalidates: (version) => [pluginDocumentsTag(version)], usesDiskReserve: true },
    async (db: Db, version: PluginKey & Pick<VersionRecord, 'id'>, newestNumber: number): Promise<void> => {
      const versionId = version.id;
      const older = db
        .selectFrom('versions')
        .select('versions.id')
        .where(isOfPlugin('versions', version))
        .where('versions.number', '<=', newestNumber - maxReportedVersions)
        .where('versions.id', '<>', versionId);
      const emptied = db
        .updateTable('simulation_runs')
        .set({ reportsJson: '[]', reportBytes: 0 })
        .where('reportsJson', '<>', '[]');
      await emptied.where('versionId', 'in', older).execute();
      await emptied
        .where('versionId', '=', versionId)
        .where('id', '<', (eb) =>
          eb
            .selectFrom('simulation_runs as newest')
            .select(({ fn }) => fn.max('newest.id').as('id'))
            .where('newest.versionId', '=', versionId),
        )
        .execute();
      await db
        .deleteFrom('simulation_runs')
        .where('versionId', '=', versionId)
        .where('id', 'not in', (eb) =>
          eb
            .selectFrom('simulation_runs')
            .select('id')
            .where('versionId', '=', versionId)
            .orderBy('id', 'desc')
            .limit(maxRunsOfVersion),
        )
        .execute();
    },
  ),

  /** Stores a version's newest verdict. It changes no state. */
  putVerdict: statement({ audit: false, invalidates: nothing }, (db: Db, id: VersionId, verdict: Verdict | null) =>
    db.updateTable('versions').set({ verdict }).where('id', '=', id),
  ),
};
