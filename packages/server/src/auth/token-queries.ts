import {
  type ApiKeyId,
  type AppId,
  idPrefixes,
  isId,
  type SessionId,
  type TokenId,
  type UserId,
} from '@tenon/protocol';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { CreationSort, SortedPage } from '../db/query-types.ts';
import { type ApiKeyRecord, columns, type TokenRecord, type UserRecord } from '../db/records.ts';

const tokens = (db: Db) => db.selectFrom('tokens').select(columns.tokens);
const apiKeys = (db: Db) => db.selectFrom('api_keys').select(columns.apiKeys);

/** A credential, and whether its user is suspended. */
type OfUser<R> = R & Pick<UserRecord, 'suspendedAtMs'>;

export const tokenQueries = {
  tokenByHash: (db: Db, secretHash: string): Promise<OfUser<TokenRecord> | undefined> =>
    tokens(db)
      .innerJoin('users', 'users.id', 'tokens.userId')
      .select('users.suspendedAtMs')
      .where('tokens.secretHash', '=', secretHash)
      .executeTakeFirst(),

  token: (db: Db, id: TokenId): Promise<TokenRecord | undefined> => tokens(db).where('id', '=', id).executeTakeFirst(),

  /** A user's tokens, including expired ones, without those of sessions. With `appId`, only those that are restricted to it. */
  tokens(db: Db, userId: UserId, appId: AppId | undefined, page: SortedPage<CreationSort>): Promise<TokenRecord[]> {
    const all = tokens(db).where('userId', '=', userId).where('sessionId', 'is', null);
    return paged(
      appId === undefined ? all : all.where('appId', '=', appId),
      'id',
      page,
      page.sort === '-createdAt',
    ).execute();
  },

  apiKeyByHash: (db: Db, secretHash: string): Promise<OfUser<ApiKeyRecord> | undefined> =>
    apiKeys(db)
      .innerJoin('users', 'users.id', 'api_keys.userId')
      .select('users.suspendedAtMs')
      .where('api_keys.secretHash', '=', secretHash)
      .executeTakeFirst(),

  apiKey: (db: Db, id: ApiKeyId): Promise<ApiKeyRecord | undefined> =>
    apiKeys(db).where('id', '=', id).executeTakeFirst(),

  apiKeys: (db: Db, userId: UserId, page: SortedPage<CreationSort>): Promise<ApiKeyRecord[]> =>
    paged(apiKeys(db).where('userId', '=', userId), 'id', page, page.sort === '-createdAt').execute(),
};

export const tokenMutations = {
  insertToken: statement(
    {
      // The token of a session isn't audited, because the start of the session is.
      audit: (token) => token.sessionId === null,
      invalidates: nothing,
      usesDiskReserve: (token) => token.sessionId !== null,
    },
    (db: Db, token: TokenRecord) => db.insertInto('tokens').values(token),
  ),

  deleteToken: statement({ audit: true, invalidates: (id) => [id], usesDiskReserve: true }, (db: Db, id: TokenId) =>
    db.deleteFrom('tokens').where('id', '=', id),
  ),

  /** Deletes all of a user's tokens that belong to no session, and all API keys. */
  deleteTokensAndKeysOf: mutation(
    { audit: true, invalidates: (userId) => [userId], usesDiskReserve: true },
    async (db: Db, userId: UserId): Promise<void> => {
      await db.deleteFrom('tokens').where('userId', '=', userId).where('sessionId', 'is', null).execute();
      await db.deleteFrom('api_keys').where('userId', '=', userId).execute();
    },
  ),

  insertApiKey: statement({ audit: true, invalidates: nothing }, (db: Db, key: ApiKeyRecord) =>
    db.insertInto('api_keys').values(key),
  ),

  deleteApiKey: statement({ audit: true, invalidates: (id) => [id], usesDiskReserve: true }, (db: Db, id: ApiKeyId) =>
    db.deleteFrom('api_keys').where('id', '=', id),
  ),

  /** Stores when tokens, keys, sessions and users were last used. Ignores unknown ids. */
  updateLastUsed: mutation(
    // No response takes the time of the last use from a cache.
    { audit: false, invalidates: nothing },
    async (db: Db, uses: ReadonlyMap<TokenId | ApiKeyId | SessionId | UserId, number>): Promise<void> => {
      for (const [id, usedAtMs] of uses) {
        if (isId('user', id)) await updateLastSeen(db, id, usedAtMs);
        else await updateLastUsedOf(db, id, usedAtMs);
      }
    },
  ),
};

/** Neither overwrites a later time, which another process may have stored. */
async function updateLastSeen(db: Db, id: UserId, lastSeenAtMs: number): Promise<void> {
  await db
    .updateTable('users')
    .set({ lastSeenAtMs })
    .where('id', '=', id)
    .where('lastSeenAtMs', '<', lastSeenAtMs)
    .execute();
}

async function updateLastUsedOf(db: Db, id: TokenId | ApiKeyId | SessionId, usedAtMs: number): Promise<void> {
  await db
    .updateTable(tableOf(id))
    .set({ lastUsedAtMs: usedAtMs })
    .where('id', '=', id as TokenId & ApiKeyId & SessionId)
    .where((eb) => eb.or([eb('lastUsedAtMs', 'is', null), eb('lastUsedAtMs', '<', usedAtMs)]))
    .execute();
}

function tableOf(id: TokenId | ApiKeyId | SessionId): 'tokens' | 'api_keys' | 'sessions' {
  if (id.startsWith(`${idPrefixes.token}_`)) return 'tokens';
  return id.startsWith(`${idPrefixes.session}_`) ? 'sessions' : 'api_keys';
}
