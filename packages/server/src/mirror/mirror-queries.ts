import type { AppId, ExtensionPointId, GuestId, UserId, VersionId } from '@tenon/protocol';
import { type ExpressionBuilder, sql } from 'kysely';
import { allContentsTag, type CacheTag, listTag, membershipTag, readableContentsTag } from '../cache/cache-tag.ts';
import type { AttestationWithBundle, SigningKeyRecord } from '../db/attestation-records.ts';
import { type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { boundLists } from '../db/list-changes.ts';
import type { MirroredAppRecord, MirrorRecord } from '../db/mirror-records.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { naturalKey } from '../db/natural-key.ts';
import {
  type AppRecord,
  columns,
  type Database,
  type ExtensionPointRecord,
  type GuestRecord,
  type PluginKey,
  type UserRecord,
  type VersionRecord,
} from '../db/records.ts';

/*
 * A mirror stores what the source answers in the rows in which the source has it, so that all requests read the same tables. The source has
 * the audit events of these changes, so none of these mutations needs one.
 */

/** A list of a mirrored guest key. */
export interface MirroredList {
  readonly extensionPointId: ExtensionPointId;
  readonly guestKey: string;
}

/** An entry of a mirrored list. */
export interface MirroredBinding {
  readonly name: string;
  readonly userId: UserId;
  readonly versionId: VersionId;
  readonly updatedAtMs: number;
}

/** A version that a mirror holds, with its content. */
export type HeldVersion = Pick<VersionRecord, 'id' | 'number' | 'contentAddress' | 'state' | 'provenance'>;

/** A version to store, with what the source says about its plugin. */
export interface MirroredVersion {
  readonly version: VersionRecord;
  readonly plugin: {
    readonly userName: string;
    readonly description: string | null;
    readonly homepage: string | null;
    readonly createdAtMs: number;
  };
}

/** The maximum number of applications that one query reads. A mirror follows fewer. */
const maxMirroredApps = 1000;

/** How many rows one statement inserts. */
const insertBatchSize = 100;

export const mirrorQueries = {
  mirror: (db: Db): Promise<MirrorRecord | undefined> =>
    db.selectFrom('mirror_states').select(columns.mirrors).limit(1).executeTakeFirst(),

  mirroredApps: (db: Db): Promise<MirroredAppRecord[]> =>
    db.selectFrom('mirrored_apps').select(['appId', 'position']).orderBy('appId').limit(maxMirroredApps).execute(),

  /** Whether the store has an application that is not mirrored. */
  hasOwnApp: (db: Db): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('apps')
        .leftJoin('mirrored_apps', 'mirrored_apps.appId', 'apps.id')
        .select('apps.id')
        .where('mirrored_apps.appId', 'is', null),
    ),

  /** The extension points of an application, also those that are being deleted. */
  mirroredExtensionPoints: (
    db: Db,
    appId: AppId,
  ): Promise<{ readonly id: ExtensionPointId; readonly deletedAtMs: number | null }[]> =>
    db.selectFrom('extension_points').select(['id', 'deletedAtMs']).where('appId', '=', appId).execute(),

  /** The guests of an application that have bindings, by id. */
  mirroredGuests: (
    db: Db,
    appId: AppId,
    { after, limit }: { readonly after: GuestId | undefined; readonly limit: number },
  ): Promise<Pick<GuestRecord, 'id' | 'guestKey'>[]> =>
    db
      .selectFrom('guests')
      .select(['id', 'guestKey'])
      .where('appId', '=', appId)
      .where('id', '>', after ?? ('' as GuestId))
      .orderBy('id')
      .limit(limit)
      .execute(),

  /** The plugins of an extension point, in the order of their keys. */
  mirroredPlugins(
    db: Db,
    extensionPointId: ExtensionPointId,
    { after, limit }: { readonly after: PluginKey | undefined; readonly limit: number },
  ): Promise<PluginKey[]> {
    const all = db
      .selectFrom('plugins')
      .select(['extensionPointId', 'userId', 'name'])
      .where('extensionPointId', '=', extensionPointId)
      .orderBy('userId')
      .orderBy('name')
      .limit(limit);
    if (after === undefined) return all.execute();
    return all.where(sql<boolean>`("userId", name) > (${after.userId}, ${after.name})`).execute();
  },

  heldVersions: (db: Db, key: PluginKey): Promise<HeldVersion[]> =>
    db
      .selectFrom('versions')
      .select(['id', 'number', 'contentAddress', 'state', 'provenance'])
      .where(isOfPlugin('versions', key))
      .orderBy('number', 'desc')
      .execute(),

  /** Counts the binding lists of an application that have plugins. */
  async countMirroredLists(db: Db, appId: AppId): Promise<number> {
    const lists = db
      .selectFrom('extension_points')
      .innerJoin('bindings', 'bindings.extensionPointId', 'extension_points.id')
      .select(['bindings.extensionPointId', 'bindings.guestId'])
      .distinct()
      .where('extension_points.appId', '=', appId);
    const { count } = await db
      .selectFrom(lists.as('matches'))
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  },

  /** Versions of an extension point that no list names, and that hosts with older lists had time to fetch. */
  async unlistedVersions(
    db: Db,
    extensionPointId: ExtensionPointId,
    nowMs: number,
    limit: number,
  ): Promise<VersionId[]> {
    const rows = await db
      .selectFrom('versions')
      .select('id')
      .where('extensionPointId', '=', extensionPointId)
      .where((eb) => isUnlisted(eb, nowMs))
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  },
};

function isUnlisted({ and, not, exists, selectFrom }: ExpressionBuilder<Database, 'versions'>, nowMs: number) {
  const bindings = selectFrom('bindings').select('bindings.name').whereRef('bindings.versionId', '=', 'versions.id');
  const blobs = selectFrom('blobs').select('blobs.address').whereRef('blobs.address', '=', 'versions.contentAddress');
  return and([not(exists(bindings)), not(exists(blobs.where('blobs.leaseUntilMs', '>', nowMs)))]);
}

export const mirrorMutations = {
  putMirror: statement({ audit: false, invalidates: nothing }, (db: Db, mirror: MirrorRecord) => {
    const { source: _, ...fields } = mirror;
    return db
      .insertInto('mirror_states')
      .values(mirror)
      .onConflict((conflict) => conflict.column('source').doUpdateSet(fields));
  }),

  /** Stores up to which change event of the source an application is mirrored. */
  putMirrorPosition: statement(
    { audit: false, invalidates: nothing },
    (db: Db, appId: AppId, position: string | null) =>
      db.updateTable('mirrored_apps').set({ position }).where('appId', '=', appId),
  ),

  /** Stores the user of the hosts' tokens. */
  putMirrorHosts: mutation({ audit: false, invalidates: nothing }, (db: Db, hosts: UserRecord) => putUser(db, hosts)),

  /** Stores an application. The user of the hosts' tokens becomes a viewer. */
  putMirroredApp: mutation(
    {
      audit: false,
      invalidates: (app, hosts) => [app.id, membershipTag(hosts.id, app.id), readableContentsTag(hosts.id)],
    },
    async (db: Db, app: AppRecord, hosts: UserRecord): Promise<void> => {
      const { id, ...fields } = app;
      await db
        .insertInto('apps')
        .values(app)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(fields))
        .execute();
      await putUser(db, hosts);
      await db
        .insertInto('members')
        .values({ appId: id, userId: hosts.id, role: 'viewer', createdAtMs: hosts.createdAtMs })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await db
        .insertInto('mirrored_apps')
        .values({ appId: id, position: null })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  ),

  /** Stores an extension point. A new one restarts the synchronization of its application. */
  putMirroredExtensionPoint: mutation(
    { audit: false, invalidates: ({ id }) => [id] },
    async (db: Db, extensionPoint: ExtensionPointRecord): Promise<void> => {
      const { id, appId, ...fields } = extensionPoint;
      const { numUpdatedRows } = await db
        .updateTable('extension_points')
        .set(fields)
        .where('id', '=', id)
        .where('appId', '=', appId)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows > 0n) return;
      await db.insertInto('extension_points').values(extensionPoint).execute();
      await db.updateTable('mirrored_apps').set({ position: null }).where('appId', '=', appId).execute();
    },
  ),

  /** Marks an extension point as deleted. Further transactions delete its rows. */
  markMirroredExtensionPointDeleted: statement(
    {
      audit: false,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, db, id) => changed.addDeleted(db, id),
      usesDiskReserve: true,
    },
    (db: Db, id: ExtensionPointId, atMs: number) =>
      db.updateTable('extension_points').set({ deletedAtMs: atMs }).where('id', '=', id),
  ),

  /** Inserts a version whose content is stored. It replaces one with the same number, of a plugin that the source has deleted. */
  putMirroredVersion: mutation(
    {
      audit: false,
      invalidates:
        ({ version }) =>
        async (db) =>
          (await listsOfReplaced(db, version)).map(({ extensionPointId, guestKey }) =>
            listTag(extensionPointId, guestKey),
          ),
      changes: async (changed, db, { version }) => {
        const lists = await listsOfReplaced(db, version);
        const guestKeys = lists.map(({ guestKey }) => guestKey);
        await changed.addLists(db, version.extensionPointId, guestKeys);
      },
    },
    async (db: Db, { version, plugin }: MirroredVersion): Promise<void> => {
      const { userName, createdAtMs, ...about } = plugin;
      const { extensionPointId, userId, name, id, number } = version;
      await putUser(db, { ...mirroredUser, id: userId, name: userName, createdAtMs });
      const appId = db.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId).$asScalar();
      await db
        .insertInto('plugins')
        .values({
          ...{ extensionPointId, userId, name, appId, createdAtMs, ...about },
          ...{ sortKey: naturalKey(name), lastNumber: number, bytes: 0, publishChargedUntilMs: 0 },
        })
        .onConflict((conflict) => conflict.columns(['extensionPointId', 'userId', 'name']).doUpdateSet(about))
        .execute();
      await db
        .deleteFrom('versions')
        .where(isOfPlugin('versions', version))
        .where('number', '=', number)
        .where('id', '!=', id)
        .execute();
      await db
        .insertInto('versions')
        .values({ ...version, appId, interfaceJson: null, credentialId: null, trustRuleId: null, attestationBytes: 0 })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      await setTotals(db, version);
    },
  ),

  /** Stores the attestations of a version. */
  putMirroredAttestations: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, versionId: VersionId, attestations: readonly AttestationWithBundle[]): Promise<void> => {
      await db.deleteFrom('attestations').where('versionId', '=', versionId).execute();
      for (const each of attestations) {
        await db
          .insertInto('attestations')
          .values(each)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },
  ),

  /** Stores what the source has decided about a version. */
  updateMirroredVersion: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (
      db: Db,
      { id, state, stateReason, stateAtMs, stateRole, verdict, provenance }: Omit<VersionRecord, keyof PluginKey>,
    ) =>
      db
        .updateTable('versions')
        .set({ state, stateReason, stateAtMs, stateRole, verdict, provenance })
        .where('id', '=', id),
  ),

  /**
   * Replaces a binding list. The contents of versions that it no longer names stay until `keepUntilMs`, because hosts may have older lists.
   */
  putMirroredList: mutation(
    {
      audit: false,
      invalidates: ({ extensionPointId, guestKey }) => [listTag(extensionPointId, guestKey)],
      changes: (changed, db, { extensionPointId, guestKey }) => changed.addLists(db, extensionPointId, [guestKey]),
      usesDiskReserve: (_list, _guest, bindings) => bindings.length === 0,
    },
    async (
      db: Db,
      { extensionPointId, guestKey }: MirroredList,
      guest: Omit<GuestRecord, 'guestKey'>,
      bindings: readonly MirroredBinding[],
      keepUntilMs: number,
    ): Promise<void> => {
      const { appId } = guest;
      if (bindings.length > 0) {
        await db
          .insertInto('guests')
          .values({ ...guest, guestKey, sortKey: naturalKey(guestKey) })
          .onConflict((conflict) => conflict.columns(['appId', 'guestKey']).doNothing())
          .execute();
      }
      const found = await db
        .selectFrom('guests')
        .select('id')
        .where('appId', '=', appId)
        .where('guestKey', '=', guestKey)
        .executeTakeFirst();
      if (found === undefined) return;
      const ofList = db
        .selectFrom('bindings')
        .where('extensionPointId', '=', extensionPointId)
        .where('guestId', '=', found.id);
      const present = await ofList.select(['name', 'userId', 'versionId', 'updatedAtMs']).execute();
      const next = new Map(bindings.map((each) => [each.name, each]));
      const isKept = (each: { name: string; userId: UserId; versionId: VersionId | null; updatedAtMs: number }) => {
        const other = next.get(each.name);
        const { userId, versionId, updatedAtMs } = other ?? {};
        return userId === each.userId && versionId === each.versionId && updatedAtMs === each.updatedAtMs;
      };
      const kept = new Set(present.filter(isKept).map(({ name }) => name));
      const removed = present.filter(({ name }) => !kept.has(name));
      for (let at = 0; at < removed.length; at += insertBatchSize) {
        const some = removed.slice(at, at + insertBatchSize);
        await keepContents(
          db,
          some.flatMap(({ versionId }) => versionId ?? []),
          keepUntilMs,
        );
        await db
          .deleteFrom('bindings')
          .where('extensionPointId', '=', extensionPointId)
          .where('guestId', '=', found.id)
          .where(
            'name',
            'in',
            some.map(({ name }) => name),
          )
          .execute();
      }
      const unbound = { pinnedVersionId: null, selectedVersionId: null, selectedAtNumber: null };
      const added = bindings.filter(({ name }) => !kept.has(name));
      for (let at = 0; at < added.length; at += insertBatchSize) {
        await db
          .insertInto('bindings')
          .values(
            added
              .slice(at, at + insertBatchSize)
              .map((each) => ({ ...each, ...unbound, extensionPointId, guestId: found.id })),
          )
          .execute();
      }
      if (
        bindings.length > 0 ||
        (await hasRow(db.selectFrom('bindings').select('name').where('guestId', '=', found.id)))
      )
        return;
      await db.deleteFrom('guests').where('id', '=', found.id).execute();
    },
  ),

  /** Deletes versions of an application that no list names, and plugins without versions. @returns how many versions */
  deleteUnlistedVersions: mutation(
    { audit: false, invalidates: (): readonly CacheTag[] => [allContentsTag], usesDiskReserve: true },
    async (db: Db, ids: readonly VersionId[], nowMs: number): Promise<number> => {
      const deleted = await db
        .deleteFrom('versions')
        .where('id', 'in', ids)
        .where((eb) => isUnlisted(eb, nowMs))
        .returning(['extensionPointId', 'userId', 'name'])
        .execute();
      for (const key of deleted) await setTotals(db, key);
      return deleted.length;
    },
  ),

  /** Stores public keys of the source, and marks others as revoked. */
  putMirroredKeys: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      keys: readonly Omit<SigningKeyRecord, 'origin' | 'revokedAtMs'>[],
      revokedIds: readonly string[],
      nowMs: number,
    ): Promise<void> => {
      for (const { id, ...fields } of keys) {
        await db
          .insertInto('signing_keys')
          .values({ ...fields, id, origin: 'source', privateKeyPem: null, revokedAtMs: null })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...fields, revokedAtMs: null }))
          .execute();
      }
      if (revokedIds.length === 0) return;
      await db.updateTable('signing_keys').set({ revokedAtMs: nowMs }).where('id', 'in', revokedIds).execute();
    },
  ),
};

const mirroredUser = { email: null, lastSeenAtMs: 0, suspendedAtMs: null, deletedAtMs: null } as const;

async function putUser(db: Db, user: UserRecord): Promise<void> {
  await db
    .insertInto('users')
    .values({ ...user, publishChargedUntilMs: 0, mailsChargedUntilMs: 0, simulationsChargedUntilMs: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: user.name }))
    .execute();
}

/** The lists that bind another version with the number of this one. */
async function listsOfReplaced(db: Db, { id, number, ...key }: VersionRecord) {
  const replaced = db
    .selectFrom('versions')
    .select('id')
    .where(isOfPlugin('versions', key))
    .where('number', '=', number)
    .where('id', '!=', id);
  if (!(await hasRow(replaced))) return [];
  const { extensionPointId, userId, name } = key;
  const lists = await boundLists(db, { extensionPointId, userId, name });
  return lists.flatMap(({ guestKey }) => (guestKey === null ? [] : [{ extensionPointId, guestKey }]));
}

/** Computes the newest version and the size of a plugin again. Deletes a plugin without versions. */
async function setTotals(db: Db, key: PluginKey): Promise<void> {
  const { bytes, lastNumber } = await db
    .selectFrom('versions')
    .select(({ fn }) => [fn.sum<number | null>('size').as('bytes'), fn.max<number | null>('number').as('lastNumber')])
    .where(isOfPlugin('versions', key))
    .executeTakeFirstOrThrow();
  if (bytes === null || lastNumber === null) await db.deleteFrom('plugins').where(isOfPlugin('plugins', key)).execute();
  else
    await db
      .updateTable('plugins')
      .set({ bytes: Number(bytes), lastNumber })
      .where(isOfPlugin('plugins', key))
      .execute();
}

/** Extends the leases of the contents of versions, so that they are not deleted before. */
async function keepContents(db: Db, ids: readonly VersionId[], untilMs: number): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('blobs')
    .set({ leaseUntilMs: untilMs })
    .where('leaseUntilMs', '<', untilMs)
    .where('address', 'in', (eb) =>
      eb.selectFrom('versions').select('versions.contentAddress').where('versions.id', 'in', ids),
    )
    .execute();
}
