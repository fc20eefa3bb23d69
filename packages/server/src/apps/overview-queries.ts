import type { AppId, AppOverview, ExtensionPointId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db } from '../db/db.ts';
import { countMatches } from '../db/page-queries.ts';

/** An extension point, a guest key, and a plugin's name, for the example of a request. Missing ones are `null`. */
type OverviewExample = Omit<AppOverview['example'], 'extensionPoint'> & {
  readonly extensionPoint: { readonly id: ExtensionPointId; readonly name: string } | null;
};

export const overviewQueries = {
  /** Counts an application's blocked plugins. */
  countBlockedPlugins: (db: Db, appId: AppId): Promise<number> =>
    countMatches(
      db,
      db
        .selectFrom('plugins')
        .where('appId', '=', appId)
        .where('deletedAtMs', 'is', null)
        .where('block', 'is not', null),
    ),

  /** Counts an application's invitations that can still be accepted. */
  countPendingInvitations: (db: Db, appId: AppId, nowMs: number): Promise<number> =>
    countMatches(
      db,
      db
        .selectFrom('invitations')
        .where('appId', '=', appId)
        // A literal, not a parameter, so that the planner can use the partial index.
        .where('status', '=', sql.lit('pending' as const))
        .where('expiresAtMs', '>', nowMs),
    ),

  /** Returns the ids and names of an application's first extension points by name. */
  firstExtensionPoints: (db: Db, appId: AppId, limit: number): Promise<{ id: ExtensionPointId; name: string }[]> =>
    db
      .selectFrom('extension_points')
      .select(['id', 'name'])
      .where('appId', '=', appId)
      .where('deletedAtMs', 'is', null)
      .orderBy(sql`lower(name)`)
      .orderBy('id')
      .limit(limit)
      .execute(),

  /** Returns an active plugin with its extension point and a guest key. Without one, the first extension point and guest. */
  async overviewExample(db: Db, appId: AppId): Promise<OverviewExample> {
    const active = await db
      .selectFrom('plugins')
      .innerJoin('extension_points', 'extension_points.id', 'plugins.extensionPointId')
      .innerJoin('bindings', (join) => join.on(areOfSamePlugin('bindings', 'plugins')))
      .innerJoin('guests', 'guests.id', 'bindings.guestId')
      .select(['extension_points.id', 'extension_points.name', 'guests.guestKey', 'plugins.name as pluginName'])
      .where('plugins.appId', '=', appId)
      .where('plugins.deletedAtMs', 'is', null)
      .where('extension_points.deletedAtMs', 'is', null)
      .where('bindings.versionId', 'is not', null)
      .limit(1)
      .executeTakeFirst();
    if (active !== undefined) {
      const { id, name, guestKey, pluginName } = active;
      return { extensionPoint: { id, name }, guestKey, pluginName };
    }
    const extensionPoint = await db
      .selectFrom('extension_points')
      .select(['id', 'name'])
      .where('appId', '=', appId)
      .where('deletedAtMs', 'is', null)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    const guest = await db
      .selectFrom('guests')
      .select('guestKey')
      .where('appId', '=', appId)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return { extensionPoint: extensionPoint ?? null, guestKey: guest?.guestKey ?? null, pluginName: null };
  },
};
