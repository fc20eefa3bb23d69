import type { ExtensionPointId, VersionId } from '@tenon/protocol';
import { type ExpressionBuilder, sql } from 'kysely';
import { documentsOfVersion } from '../attestations/attestation-queries.ts';
import { allContentsTag, type CacheTag, listTag, pluginDocumentsTag } from '../cache/cache-tag.ts';
import type { AttestationWithBundle } from '../db/attestation-records.ts';
import { type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { boundLists } from '../db/list-changes.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { naturalKey } from '../db/natural-key.ts';
import type { Database, PluginKey, VersionRecord } from '../db/records.ts';
import { putMirroredUser } from './mirrored-user.ts';

/* The plugins of a mirror, with their versions and attestations. */

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

export const mirroredVersionQueries = {
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

export const mirroredVersionMutations = {
  /** Inserts a version whose content is stored. It replaces one with the same number, of a plugin that the source has deleted. */
  putMirroredVersion: mutation(
    {
      audit: false,
      invalidates:
        ({ version }) =>
        async (db) =>
          (await listsOfReplaced(db, version))
            .map(({ extensionPointId, guestKey }) => listTag(extensionPointId, guestKey))
            .concat(pluginDocumentsTag(version)),
      changes: async (changed, db, { version }) => {
        const lists = await listsOfReplaced(db, version);
        const guestKeys = lists.map(({ guestKey }) => guestKey);
        await changed.addLists(db, version.extensionPointId, guestKeys);
      },
    },
    async (db: Db, { version, plugin }: MirroredVersion): Promise<void> => {
      const { userName, createdAtMs, ...about } = plugin;
      const { extensionPointId, userId, name, id, number } = version;
      await putMirroredUser(db, { ...mirroredUser, id: userId, name: userName, createdAtMs });
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
    {
      audit: false,
      invalidates: (_key, versionId) => documentsOfVersion(versionId),
      changes: (changed, db, key) => changed.addPlugin(db, key),
    },
    async (
      db: Db,
      _key: PluginKey,
      versionId: VersionId,
      attestations: readonly AttestationWithBundle[],
    ): Promise<void> => {
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
};

const mirroredUser = { email: null, lastSeenAtMs: 0, suspendedAtMs: null, deletedAtMs: null } as const;

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
