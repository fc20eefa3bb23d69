import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './schema.ts';

const columns = [
  'id',
  'purpose',
  'code_hash',
  'user_id',
  'is_for_first_user',
  'created_at_ms',
  'expires_at_ms',
  'used_at_ms',
] as const;

export function oneTimeLinkQueries(db: Db): Pick<Queries, 'oneTimeLinkByHash'> {
  return {
    async oneTimeLinkByHash(codeHash) {
      const row = await db
        .selectFrom('one_time_links')
        .select(columns)
        .where('code_hash', '=', codeHash)
        .executeTakeFirst();
      return (
        row && {
          id: row.id,
          purpose: row.purpose,
          codeHash: row.code_hash,
          userId: row.user_id,
          isForFirstUser: row.is_for_first_user !== 0,
          createdAtMs: row.created_at_ms,
          expiresAtMs: row.expires_at_ms,
          usedAtMs: row.used_at_ms,
        }
      );
    },
  };
}

export function oneTimeLinkMutations(
  db: Db,
): Pick<Mutations, 'insertOneTimeLink' | 'useOneTimeLink' | 'expireLinksOf'> {
  return {
    async insertOneTimeLink(link) {
      await db
        .insertInto('one_time_links')
        .values({
          id: link.id,
          purpose: link.purpose,
          code_hash: link.codeHash,
          user_id: link.userId,
          is_for_first_user: link.isForFirstUser ? 1 : 0,
          created_at_ms: link.createdAtMs,
          expires_at_ms: link.expiresAtMs,
          used_at_ms: link.usedAtMs,
        })
        .execute();
    },
    async useOneTimeLink(id, usedAtMs) {
      await db
        .updateTable('one_time_links')
        .set({ used_at_ms: usedAtMs })
        .where('id', '=', id)
        .where('used_at_ms', 'is', null)
        .execute();
    },
    async expireLinksOf(userId, expiredAtMs) {
      await db
        .updateTable('one_time_links')
        .set({ expires_at_ms: expiredAtMs })
        .where('user_id', '=', userId)
        .where('used_at_ms', 'is', null)
        .where('expires_at_ms', '>', expiredAtMs)
        .execute();
    },
  };
}
