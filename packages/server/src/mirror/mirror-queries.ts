import type { AppId } from '@tenon/protocol';
import type { SigningKeyRecord } from '../db/attestation-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import type { MirroredAppRecord, MirrorRecord } from '../db/mirror-records.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { columns } from '../db/records.ts';

/* The state of a mirror, and the keys of its source. */

/** The maximum number of applications that one query reads. A mirror follows fewer. */
const maxMirroredApps = 1000;

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
};

export const mirrorMutations = {
  putMirror: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, mirror: MirrorRecord) => {
      const { source: _, ...fields } = mirror;
      return db
        .insertInto('mirror_states')
        .values(mirror)
        .onConflict((conflict) => conflict.column('source').doUpdateSet(fields));
    },
  ),

  /** Stores up to which change event of the source an application is mirrored. */
  putMirrorPosition: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, appId: AppId, position: string | null) =>
      db.updateTable('mirrored_apps').set({ position }).where('appId', '=', appId),
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
