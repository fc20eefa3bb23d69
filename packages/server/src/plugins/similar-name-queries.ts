import type { ExtensionPointId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { inChunks } from '../db/page-queries.ts';
import type { PluginKey } from '../db/records.ts';

/** A plugin of another publisher with a similar name. */
export interface SimilarPlugin extends PluginKey {
  readonly otherUserId: UserId;
  readonly otherName: string;
  readonly otherUserName: string;
}

type PluginName = Pick<PluginKey, 'userId' | 'name'>;

export const similarNameQueries = {
  /** Returns the plugins of an extension point that other users published. A quota bounds their number. */
  pluginsOfOthers: (db: Db, extensionPointId: ExtensionPointId, userId: UserId): Promise<PluginName[]> =>
    db
      .selectFrom('plugins')
      .select(['userId', 'name'])
      .where('extensionPointId', '=', extensionPointId)
      .where('userId', '<>', userId)
      .where('deletedAtMs', 'is', null)
      .orderBy('userId')
      .orderBy('name')
      .execute(),

  /** Returns the plugins with similar names that were found when these plugins were first published, and still exist. */
  similarPlugins: (db: Db, keys: readonly PluginKey[]): Promise<SimilarPlugin[]> =>
    inChunks(keys, (chunk) => {
      const values = chunk.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
      const columns = sql`(similar_names."extensionPointId", similar_names."userId", similar_names.name)`;
      return db
        .selectFrom('similar_names')
        .innerJoin('plugins as other', (join) =>
          join
            .onRef('other.extensionPointId', '=', 'similar_names.extensionPointId')
            .onRef('other.userId', '=', 'similar_names.otherUserId')
            .onRef('other.name', '=', 'similar_names.otherName'),
        )
        .innerJoin('users', 'users.id', 'similar_names.otherUserId')
        .select(['similar_names.extensionPointId', 'similar_names.userId', 'similar_names.name'])
        .select(['similar_names.otherUserId', 'similar_names.otherName', 'users.name as otherUserName'])
        .where('other.deletedAtMs', 'is', null)
        .where(sql<boolean>`${columns} in (values ${sql.join(values)})`)
        .execute();
    }),
};

export const similarNameMutations = {
  putSimilarNames: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, { extensionPointId, userId, name }: PluginKey, others: readonly PluginName[]): Promise<void> => {
      const rows = others.map((other) => ({ otherUserId: other.userId, otherName: other.name }));
      await db
        .insertInto('similar_names')
        .values(rows.map((row) => ({ extensionPointId, userId, name, ...row })))
        .execute();
    },
  ),
};
