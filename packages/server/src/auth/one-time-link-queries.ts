import type { OneTimeLinkId, UserId } from '@tenon/protocol';
import type { Db } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';
import { columns, type OneTimeLinkRecord } from '../db/records.ts';

export const oneTimeLinkQueries = {
  oneTimeLinkByHash: (db: Db, codeHash: string): Promise<OneTimeLinkRecord | undefined> =>
    db.selectFrom('one_time_links').select(columns.oneTimeLinks).where('codeHash', '=', codeHash).executeTakeFirst(),
};

export const oneTimeLinkMutations = {
  insertOneTimeLink: statement({ audit: true, invalidates: nothing }, (db: Db, link: OneTimeLinkRecord) =>
    db.insertInto('one_time_links').values(link),
  ),

  /** Marks a link as used, unless it was used before. */
  useOneTimeLink: statement({ audit: true, invalidates: nothing }, (db: Db, id: OneTimeLinkId, usedAtMs: number) =>
    db.updateTable('one_time_links').set({ usedAtMs }).where('id', '=', id).where('usedAtMs', 'is', null),
  ),

  /** Sets an earlier expiry of a user's unused links. */
  expireLinksOf: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, userId: UserId, expiredAtMs: number) =>
      db
        .updateTable('one_time_links')
        .set({ expiresAtMs: expiredAtMs })
        .where('userId', '=', userId)
        .where('usedAtMs', 'is', null)
        .where('expiresAtMs', '>', expiredAtMs),
  ),
};
