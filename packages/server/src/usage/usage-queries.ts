import type { AppId, ContentAddress, ExtensionPointId, GuestId, UserId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { inChunks, setOf } from '../db/page-queries.ts';
import { columns, type PluginKey, type VersionRecord } from '../db/records.ts';
import type { UsageCounts, UsageDayRecord, UsageSubjectRecord, UsageWriterRecord } from '../db/usage-records.ts';
import { mergeDetails } from './usage-detail.ts';

/** A version's sums over a period. */
export interface VersionUsageRecord extends UsageCounts, PluginKey {
  readonly versionId: VersionId;
  readonly number: number;
  readonly semver: string | null;
  readonly listedAtMs: number | null;
  readonly fetchedAtMs: number | null;
  readonly reportedAtMs: number | null;
}

/** The days from `fromMs` on, before `toMs`. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A list's guest, with one row for each of its bound versions, or one without a version. */
export interface ListedBinding {
  readonly guestId: GuestId;
  readonly guestKey: string;
  readonly userId: UserId | null;
  readonly name: string | null;
  readonly versionId: VersionId | null;
  readonly contentAddress: ContentAddress | null;
}

export interface VersionOfContent extends PluginKey {
  readonly id: VersionId;
  readonly appId: AppId;
  readonly contentAddress: ContentAddress;
}

/** How many versions with the same content are read. */
const maxVersionsPerContent = 100;

/** How many rows one statement inserts. Databases limit the number of a statement's parameters. */
const insertBatchSize = 100;

export const usageQueries = {
  /** The subjects with these ids. Unused ones have no row. */
  usageSubjects: (db: Db, ids: readonly string[]): Promise<UsageSubjectRecord[]> =>
    inChunks(ids, (chunk) =>
      db.selectFrom('usage_subjects').select(columns.usageSubjects).where('id', 'in', setOf(chunk)).execute(),
    ),

  usageDays: (db: Db, subjectId: string, { fromMs, toMs }: UsagePeriod): Promise<UsageDayRecord[]> =>
    db
      .selectFrom('usage_days')
      .select(columns.usageDays)
      .where('subjectId', '=', subjectId)
      .where('dayMs', '>=', fromMs)
      .where('dayMs', '<', toMs)
      .orderBy('dayMs')
      .execute(),

  /** The counts of several subjects, without details. */
  usageCounts: (
    db: Db,
    ids: readonly string[],
    { fromMs, toMs }: UsagePeriod,
  ): Promise<Pick<UsageDayRecord, 'subjectId' | 'dayMs' | 'listRequests' | 'contentFetches'>[]> =>
    inChunks(ids, (chunk) =>
      db
        .selectFrom('usage_days')
        .select(['subjectId', 'dayMs', 'listRequests', 'contentFetches'])
        .where('subjectId', 'in', setOf(chunk))
        .where('dayMs', '>=', fromMs)
        .where('dayMs', '<', toMs)
        .execute(),
    ),

  /** The versions of a plugin that were used in a period, the newest first. */
  async versionUsage(
    db: Db,
    { extensionPointId, userId, name }: PluginKey,
    { fromMs, toMs }: UsagePeriod,
    limit: number,
  ): Promise<VersionUsageRecord[]> {
    const rows = await db
      .selectFrom('usage_subjects')
      .innerJoin('versions', 'versions.id', 'usage_subjects.versionId')
      .innerJoin('usage_days', 'usage_days.subjectId', 'usage_subjects.id')
      .select(['versions.id as versionId', 'versions.number', 'versions.semver'])
      .select(['usage_subjects.listedAtMs', 'usage_subjects.fetchedAtMs', 'usage_subjects.reportedAtMs'])
      .select(({ fn }) => [
        fn.sum<number | string>('usage_days.listRequests').as('listRequests'),
        fn.sum<number | string>('usage_days.contentFetches').as('contentFetches'),
        fn.sum<number | string>('usage_days.loadReports').as('loadReports'),
      ])
      .where('usage_subjects.extensionPointId', '=', extensionPointId)
      .where('usage_subjects.userId', '=', userId)
      .where('usage_subjects.name', '=', name)
      .where('usage_days.dayMs', '>=', fromMs)
      .where('usage_days.dayMs', '<', toMs)
      .groupBy(['versions.id', 'versions.number', 'versions.semver'])
      .groupBy(['usage_subjects.listedAtMs', 'usage_subjects.fetchedAtMs', 'usage_subjects.reportedAtMs'])
      .orderBy('versions.number', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ listRequests, contentFetches, loadReports, ...row }) => ({
      ...{ extensionPointId, userId, name, ...row },
      listRequests: Number(listRequests),
      contentFetches: Number(contentFetches),
      loadReports: Number(loadReports),
    }));
  },

  /** The guests with these keys, and what is bound under them at an extension point. */
  listedBindings: (
    db: Db,
    appId: AppId,
    extensionPointId: ExtensionPointId,
    guestKeys: readonly string[],
  ): Promise<ListedBinding[]> =>
    inChunks(guestKeys, (chunk) =>
      db
        .selectFrom('guests')
        .leftJoin('bindings', (join) =>
          join
            .onRef('bindings.guestId', '=', 'guests.id')
            .on('bindings.extensionPointId', '=', extensionPointId)
            .on('bindings.versionId', 'is not', null),
        )
        .leftJoin('versions', 'versions.id', 'bindings.versionId')
        .select(['guests.id as guestId', 'guests.guestKey', 'bindings.userId', 'bindings.name'])
        .select(['bindings.versionId', 'versions.contentAddress'])
        .where('guests.appId', '=', appId)
        .where('guests.guestKey', 'in', setOf(chunk))
        .execute(),
    ),

  /** The versions with a content, the newest first. */
  versionsOfContent: (db: Db, address: ContentAddress): Promise<VersionOfContent[]> =>
    db
      .selectFrom('versions')
      .select(['id', 'appId', 'extensionPointId', 'userId', 'name', 'contentAddress'])
      .where('contentAddress', '=', address)
      .orderBy('id', 'desc')
      .limit(maxVersionsPerContent)
      .execute(),

  /** Those of these versions that exist. */
  versionsById: (db: Db, ids: readonly VersionId[]): Promise<VersionRecord[]> =>
    inChunks(ids, (chunk) =>
      db.selectFrom('versions').select(columns.versions).where('id', 'in', setOf(chunk)).execute(),
    ),

  /** The applications in which each of these users is a member. */
  appsOfMembers: (db: Db, userIds: readonly UserId[]): Promise<{ appId: AppId; userId: UserId }[]> =>
    inChunks(userIds, (chunk) =>
      db.selectFrom('members').select(['appId', 'userId']).where('userId', 'in', setOf(chunk)).execute(),
    ),
};

export const usageMutations = {
  /**
   * Adds a batch to the stored usage, unless the process has added it before. Several processes may add at the same time: each waits
   * for the rows of the others.
   */
  addUsage: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      { id, serial, atMs }: UsageWriterRecord,
      subjects: readonly UsageSubjectRecord[],
      days: readonly UsageDayRecord[],
    ): Promise<void> => {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('usage_writers')
        .values({ id, serial, atMs })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ serial, atMs }).where('usage_writers.serial', '<', serial),
        )
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) return;
      // All processes lock rows in the same order, so that none waits in a circle.
      const sortedSubjects = subjects.toSorted((a, b) => compare(a.id, b.id));
      for (const batch of batchesOf(sortedSubjects)) await putSubjects(db, batch);
      const sortedDays = days.toSorted((a, b) => a.dayMs - b.dayMs || compare(a.subjectId, b.subjectId));
      for (const batch of batchesOf(sortedDays)) await addDays(db, batch);
    },
  ),

  /** Deletes days from before a time. The times of the last use stay. @returns the number of deleted days */
  deleteUsageBefore: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, beforeMs: number, limit: number): Promise<number> => {
      const { numAffectedRows = 0n } = await sql`
        delete from usage_days where ("subjectId", "dayMs") in (
          select "subjectId", "dayMs" from usage_days where "dayMs" < ${beforeMs} limit ${sql.lit(limit)}
        )
      `.execute(db);
      return Number(numAffectedRows);
    },
  ),

  /** Deletes the rows of processes that have written nothing since a time. */
  deleteUsageWriters: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, beforeMs: number) => db.deleteFrom('usage_writers').where('atMs', '<', beforeMs),
  ),
};

async function putSubjects(db: Db, subjects: readonly UsageSubjectRecord[]): Promise<void> {
  const later = (column: 'listedAtMs' | 'fetchedAtMs' | 'reportedAtMs') => {
    const [stored, added] = [sql.ref(`usage_subjects.${column}`), sql.ref(`excluded.${column}`)];
    return sql<number>`case when coalesce(${added}, 0) > coalesce(${stored}, 0) then ${added} else ${stored} end`;
  };
  await db
    .insertInto('usage_subjects')
    .values([...subjects])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        listedAtMs: later('listedAtMs'),
        fetchedAtMs: later('fetchedAtMs'),
        reportedAtMs: later('reportedAtMs'),
      }),
    )
    .execute();
}

async function addDays(db: Db, days: readonly UsageDayRecord[]): Promise<void> {
  const sum = (column: keyof UsageCounts) =>
    sql<number>`${sql.ref(`usage_days.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
  await db
    .insertInto('usage_days')
    .values(days.map((day) => ({ ...day, detail: {} })))
    .onConflict((conflict) =>
      conflict.columns(['subjectId', 'dayMs']).doUpdateSet({
        listRequests: sum('listRequests'),
        contentFetches: sum('contentFetches'),
        loadReports: sum('loadReports'),
      }),
    )
    .execute();
  // The rows are locked, so that the details can be read, merged, and written.
  const stored = await db
    .selectFrom('usage_days')
    .select(['subjectId', 'dayMs', 'detail'])
    .where('subjectId', 'in', setOf(days.map(({ subjectId }) => subjectId)))
    .where('dayMs', 'in', [...new Set(days.map(({ dayMs }) => dayMs))])
    .execute();
  const details = new Map(stored.map(({ subjectId, dayMs, detail }) => [`${dayMs} ${subjectId}`, detail]));
  await db
    .insertInto('usage_days')
    .values(
      days.map((day) => ({
        ...day,
        detail: mergeDetails(details.get(`${day.dayMs} ${day.subjectId}`) ?? {}, day.detail),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['subjectId', 'dayMs']).doUpdateSet({ detail: sql.ref('excluded.detail') as never }),
    )
    .execute();
}

function* batchesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += insertBatchSize) yield rows.slice(at, at + insertBatchSize);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
