import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';

export function oneTimeLinkQueries(db: Db): Pick<Queries, 'oneTimeLinkByHash'> {
  return {
    oneTimeLinkByHash: (codeHash) =>
      db.selectFrom('one_time_links').select(columns.oneTimeLinks).where('codeHash', '=', codeHash).executeTakeFirst(),
  };
}

export function oneTimeLinkMutations(
  db: Db,
): Pick<Mutations, 'insertOneTimeLink' | 'useOneTimeLink' | 'expireLinksOf'> {
  return {
    async insertOneTimeLink(link) {
      await db.insertInto('one_time_links').values(link).execute();
    },
    async useOneTimeLink(id, usedAtMs) {
      await db
        .updateTable('one_time_links')
        .set({ usedAtMs })
        .where('id', '=', id)
        .where('usedAtMs', 'is', null)
        .execute();
    },
    async expireLinksOf(userId, expiredAtMs) {
      await db
        .updateTable('one_time_links')
        .set({ expiresAtMs: expiredAtMs })
        .where('userId', '=', userId)
        .where('usedAtMs', 'is', null)
        .where('expiresAtMs', '>', expiredAtMs)
        .execute();
    },
  };
}
