import type { AppId, ExtensionPointId } from '@tenon/protocol';
import { allContentsTag, membershipTag, readableContentsTag } from '../cache/cache-tag.ts';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import type { AppRecord, ExtensionPointRecord, UserRecord } from '../db/records.ts';
import { putMirroredUser } from './mirrored-user.ts';

/* The applications and extension points of a mirror. */

export const mirroredStructureQueries = {
  /** The extension points of an application, also those that are being deleted. */
  mirroredExtensionPoints: (
    db: Db,
    appId: AppId,
  ): Promise<{ readonly id: ExtensionPointId; readonly deletedAtMs: number | null }[]> =>
    db.selectFrom('extension_points').select(['id', 'deletedAtMs']).where('appId', '=', appId).execute(),
};

export const mirroredStructureMutations = {
  /** Stores the user of the hosts' tokens. */
  putMirrorHosts: mutation({ audit: false, invalidates: nothing }, (db: Db, hosts: UserRecord) =>
    putMirroredUser(db, hosts),
  ),

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
      await putMirroredUser(db, hosts);
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
};
