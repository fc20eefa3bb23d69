import type { AppId, ContentAddress, ExtensionPointId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { CallReportKey, CallReportRecord } from '../db/call-report-records.ts';
import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { inChunks, setOf } from '../db/page-queries.ts';
import { columns, type PluginKey } from '../db/records.ts';
import type { RollOutRecord } from '../db/roll-out-records.ts';
import { addDurations } from './durations.ts';

/** A version with the fields that identify it in reports. */
export interface ReportedVersion extends PluginKey {
  readonly id: VersionId;
  readonly number: number;
  readonly contentAddress: ContentAddress;
}

/** A version in a staged roll-out. */
export type RolledOutVersion = RollOutRecord & Pick<ReportedVersion, 'number' | 'contentAddress'>;

/** How many versions with reported contents are read. */
const maxVersions = 10_000;

/** How many periods of a series are read, the newest first. */
const maxSlots = 2000;

/** How many steps are summed up. A resumed step counts again. */
const maxSteps = 100;

/** How many rows one statement inserts. Databases limit the number of a statement's parameters. */
const insertBatchSize = 100;

export const callReportQueries = {
  /** The versions at an extension point with these contents. */
  versionsOfContents: (
    db: Db,
    appId: AppId,
    extensionPointId: ExtensionPointId,
    addresses: readonly string[],
  ): Promise<ReportedVersion[]> =>
    inChunks(
      addresses as readonly ContentAddress[],
      (chunk, limit = maxVersions) =>
        db
          .selectFrom('versions')
          .select(['id', 'extensionPointId', 'userId', 'name', 'number', 'contentAddress'])
          .where('contentAddress', 'in', setOf(chunk))
          .where('appId', '=', appId)
          .where('extensionPointId', '=', extensionPointId)
          .limit(limit)
          .execute(),
      maxVersions,
    ),

  /** The open roll-outs of plugins with these names at an extension point. */
  rollOutsToReport: (
    db: Db,
    extensionPointId: ExtensionPointId,
    names: readonly string[],
  ): Promise<RolledOutVersion[]> =>
    inChunks(names, (chunk) =>
      db
        .selectFrom('roll_outs')
        .innerJoin('versions', 'versions.id', 'roll_outs.versionId')
        .select(columns.rollOuts)
        .select(['versions.number', 'versions.contentAddress'])
        .where('roll_outs.extensionPointId', '=', extensionPointId)
        .where('roll_outs.name', 'in', setOf(chunk))
        .where('roll_outs.state', '!=', 'planned')
        .where('roll_outs.endedAtMs', 'is', null)
        .execute(),
    ),

  /** The sums of both series of a roll-out since its step began. */
  stepReports: (db: Db, versionId: VersionId, stepAtMs: number): Promise<CallReportRecord[]> =>
    db
      .selectFrom('call_reports')
      .select(columns.callReports)
      .where('versionId', '=', versionId)
      .where('series', 'in', ['version', 'previous'])
      .where('kind', '=', 'step')
      .where('fromMs', '=', stepAtMs)
      .execute(),

  /** The sums of the version before in the last steps of a roll-out that began at a time. */
  previousReports: (db: Db, versionId: VersionId, createdAtMs: number): Promise<CallReportRecord[]> =>
    db
      .selectFrom('call_reports')
      .select(columns.callReports)
      .where('versionId', '=', versionId)
      .where('series', '=', 'previous')
      .where('kind', '=', 'step')
      .where('fromMs', '>=', createdAtMs)
      .orderBy('fromMs', 'desc')
      .limit(maxSteps)
      .execute(),

  /** The last periods of a series, the newest first. */
  reportSlots: (db: Db, versionId: VersionId, series: CallReportKey['series']): Promise<CallReportRecord[]> =>
    db
      .selectFrom('call_reports')
      .select(columns.callReports)
      .where('versionId', '=', versionId)
      .where('series', '=', series)
      .where('kind', '=', 'slot')
      .orderBy('fromMs', 'desc')
      .limit(maxSlots)
      .execute(),

  /** How many calls of a version hosts have reported since the step of its roll-out began. */
  async reportedCalls(db: Db, versionId: VersionId, stepAtMs: number): Promise<number> {
    const row = await db
      .selectFrom('call_reports')
      .select('calls')
      .where('versionId', '=', versionId)
      .where('series', '=', 'version')
      .where('kind', '=', 'step')
      .where('fromMs', '=', stepAtMs)
      .executeTakeFirst();
    return row?.calls ?? 0;
  },
};

export const callReportMutations = {
  /** Adds reports to the stored ones. Several processes may add at the same time: each waits for the rows of the others. */
  addCallReports: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, rows: readonly CallReportRecord[]): Promise<void> => {
      // All processes lock rows in the same order, so that none waits in a circle.
      const sorted = rows.toSorted((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
      for (let at = 0; at < sorted.length; at += insertBatchSize)
        await addRows(db, sorted.slice(at, at + insertBatchSize));
    },
  ),

  /** Deletes some reports of roll-outs that ended before a time. @returns how many */
  deleteCallReports: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, endedBeforeMs: number, limit: number): Promise<number> => {
      const { numAffectedRows = 0n } = await sql`
        delete from call_reports where ("versionId", series, kind, "fromMs") in (
          select call_reports."versionId", call_reports.series, call_reports.kind, call_reports."fromMs"
          from roll_outs inner join call_reports on call_reports."versionId" = roll_outs."versionId"
          where roll_outs."endedAtMs" < ${endedBeforeMs} limit ${sql.lit(limit)}
        )
      `.execute(db);
      return Number(numAffectedRows);
    },
  ),
};

/** Identifies a row. */
const keyText = ({ versionId, series, kind, fromMs }: CallReportKey): string =>
  `${versionId} ${series} ${kind} ${String(fromMs).padStart(16, '0')}`;

async function addRows(db: Db, rows: readonly CallReportRecord[]): Promise<void> {
  const [storedMemory, addedMemory] = [sql.ref('call_reports.memoryBytes'), sql.ref('excluded.memoryBytes')];
  const key = ['versionId', 'series', 'kind', 'fromMs'] as const;
  const sum = (column: 'calls' | 'errors') =>
    sql<number>`${sql.ref(`call_reports.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
  await db
    .insertInto('call_reports')
    .values(rows.map((row) => ({ ...row, durations: {} })))
    .onConflict((conflict) =>
      conflict.columns(key).doUpdateSet({
        calls: sum('calls'),
        errors: sum('errors'),
        memoryBytes: sql`case when ${storedMemory} >= coalesce(${addedMemory}, 0) then ${storedMemory} else ${addedMemory} end`,
      }),
    )
    .execute();
  // The rows are locked, so that the durations can be read, added up, and written.
  const stored = await db
    .selectFrom('call_reports')
    .select(columns.callReports)
    .where('versionId', 'in', setOf([...new Set(rows.map(({ versionId }) => versionId))]))
    .where('fromMs', 'in', [...new Set(rows.map(({ fromMs }) => fromMs))])
    .where('series', 'in', ['version', 'previous'])
    .where('kind', 'in', ['step', 'slot'])
    .execute();
  const durations = new Map(stored.map((row) => [keyText(row), row.durations]));
  await db
    .insertInto('call_reports')
    .values(rows.map((row) => ({ ...row, durations: addDurations(durations.get(keyText(row)) ?? {}, row.durations) })))
    .onConflict((conflict) => conflict.columns(key).doUpdateSet({ durations: sql.ref('excluded.durations') as never }))
    .execute();
}
