import type { AppId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import type { BlockedPublisherRecord, BlockRecord, PluginKey } from '../db/records.ts';

export const blockedPublisherQueries = {
  async publisherBlock(db: Db, appId: AppId, userId: UserId): Promise<BlockRecord | undefined> {
    const row = await db
      .selectFrom('blocked_publishers')
      .select('block')
      .where('appId', '=', appId)
      .where('userId', '=', userId)
      .executeTakeFirst();
    return row?.block;
  },

  /** Returns the publishers that an application's team has blocked, by user id, with their names. */
  blockedPublishers(
    db: Db,
    appId: AppId,
    page: Page,
  ): Promise<(BlockedPublisherRecord & { readonly userName: string })[]> {
    const blocked = db
      .selectFrom('blocked_publishers')
      .innerJoin('users', 'users.id', 'blocked_publishers.userId')
      .select(['blocked_publishers.appId', 'blocked_publishers.userId', 'blocked_publishers.block'])
      .select('users.name as userName')
      .where('blocked_publishers.appId', '=', appId);
    return paged(blocked, 'blocked_publishers.userId', page).execute();
  },

  /** Whether a user holds a guest of an application, or has published a plugin there. */
  async isPublisher(db: Db, appId: AppId, userId: UserId): Promise<boolean> {
    const guests = db
      .selectFrom('guest_users')
      .innerJoin('guests', 'guests.id', 'guest_users.guestId')
      .select('guests.id')
      .where('guest_users.userId', '=', userId)
      .where('guests.appId', '=', appId);
    return (await hasRow(guests)) || (await hasRow(pluginsOf(db, appId, userId)));
  },

  /** Returns the plugins of a publisher in an application, or only those with a pending rebind. */
  pluginsOfPublisher(
    db: Db,
    appId: AppId,
    userId: UserId,
    { isPending }: { readonly isPending?: boolean } = {},
  ): Promise<PluginKey[]> {
    const plugins = pluginsOf(db, appId, userId);
    return (isPending ? plugins.where('pendingRebind', 'is not', null) : plugins).execute();
  },
};

function pluginsOf(db: Db, appId: AppId, userId: UserId) {
  return db
    .selectFrom('plugins')
    .select(['extensionPointId', 'userId', 'name'])
    .where('userId', '=', userId)
    .where('appId', '=', appId)
    .where('deletedAtMs', 'is', null);
}

export const blockedPublisherMutations = {
  /** Blocks a publisher, or replaces the block. */
  putPublisherBlock: mutation(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, { appId, userId, block }: BlockedPublisherRecord): Promise<void> => {
      await db
        .insertInto('blocked_publishers')
        .values({ appId, userId, block })
        .onConflict((conflict) => conflict.columns(['appId', 'userId']).doUpdateSet({ block }))
        .execute();
    },
  ),

  deletePublisherBlock: statement({ audit: true, invalidates: nothing }, (db: Db, appId: AppId, userId: UserId) =>
    db.deleteFrom('blocked_publishers').where('appId', '=', appId).where('userId', '=', userId),
  ),
};

/** The block of a plugin's publisher in its application, for a join with `plugins`. */
export const isOfPublisher = sql<boolean>`blocked_publishers."appId" = plugins."appId" and blocked_publishers."userId" = plugins."userId"`;
