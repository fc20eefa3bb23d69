import type { OneTimeLinkId, UserId } from '@tenon/protocol';
import { columns, type OneTimeLinkRecord } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { mutation, nothing } from './mutation.ts';

export const oneTimeLinkQueries = {
  oneTimeLinkByHash: (db: Db, codeHash: string): Promise<OneTimeLinkRecord | undefined> =>
    db.selectFrom('one_time_links').select(columns.oneTimeLinks).where('codeHash', '=', codeHash).executeTakeFirst(),
};

export const oneTimeLinkMutations = {
  insertOneTimeLink: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, link: OneTimeLinkRecord): Promise<void> => {
      await db.insertInto('one_time_links').values(link).execute();
    },
  ),

  /** Marks a link as used; one that was used before stays as it is. */
  useOneTimeLink: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, id: OneTimeLinkId, usedAtMs: number): Promise<void> => {
      await db
        .updateTable('one_time_links')
        .set({ usedAtMs })
        .where('id', '=', id)
        .where('usedAtMs', 'is', null)
        .execute();
    },
  ),

  /** Makes a user's unused links expire at a time, unless they expire earlier. */
  expireLinksOf: mutation(
    { audit: true, invalidates: nothing, freesSpace: true },
    async (db: Db, userId: UserId, expiredAtMs: number): Promise<void> => {
      await db
        .updateTable('one_time_links')
        .set({ expiresAtMs: expiredAtMs })
        .where('userId', '=', userId)
        .where('usedAtMs', 'is', null)
        .where('expiresAtMs', '>', expiredAtMs)
        .execute();
    },
  ),
};
