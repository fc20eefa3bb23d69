import {
  type ApiKeyId,
  type AppId,
  idPrefixes,
  isId,
  type PasskeyId,
  type SessionId,
  type TokenId,
  type UserId,
} from '@tenon/protocol';
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { CreationSort, LastUse, SortedPage, WithLastAddress } from '../db/query-types.ts';
import { type ApiKeyRecord, columns, type TokenRecord, type UserRecord } from '../db/records.ts';

const tokens = (db: Db) => db.selectFrom('tokens').select(columns.tokens);
const apiKeys = (db: Db) => db.selectFrom('api_keys').select(columns.apiKeys);

/** A credential, and whether its user is suspended. */
type OfUser<R> = R & Pick<UserRecord, 'suspendedAtMs'>;

/** The passkey of a token: the one used in its session, or for a program's token, any passkey of its user. */
const passkeyOfToken = sql<PasskeyId | null>`case when tokens."sessionId" is null
  then (select min(passkeys.id) from passkeys where passkeys."userId" = tokens."userId")
  else (select sessions."passkeyId" from sessions where sessions.id = tokens."sessionId") end`;

export const tokenQueries = {
  tokenByHash: (
    db: Db,
    secretHash: string,
  ): Promise<(OfUser<TokenRecord> & { readonly passkeyId: PasskeyId | null }) | undefined> =>
    tokens(db)
      .innerJoin('users', 'users.id', 'tokens.userId')
      .select(['users.suspendedAtMs', passkeyOfToken.as('passkeyId')])
      .where('tokens.secretHash', '=', secretHash)
      .executeTakeFirst(),

  /** The passkey of a token, as in `tokenByHash`. */
  async passkeyOfToken(db: Db, id: TokenId): Promise<PasskeyId | null> {
    const query = db.selectFrom('tokens').select(passkeyOfToken.as('passkeyId')).where('tokens.id', '=', id);
    return (await query.executeTakeFirst())?.passkeyId ?? null;
  },

  token: (db: Db, id: TokenId): Promise<TokenRecord | undefined> => tokens(db).where('id', '=', id).executeTakeFirst(),

  /** A user's tokens, including expired ones, without those of sessions. With `appId`, only those that are restricted to it. */
  tokens(
    db: Db,
    userId: UserId,
    appId: AppId | undefined,
    page: SortedPage<CreationSort>,
  ): Promise<(TokenRecord & WithLastAddress)[]> {
    const all = tokens(db).select('tokens.lastUsedAddress').where('userId', '=', userId).where('sessionId', 'is', null);
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

  apiKeys: (db: Db, userId: UserId, page: SortedPage<CreationSort>): Promise<(ApiKeyRecord & WithLastAddress)[]> =>
    paged(
      apiKeys(db).select('api_keys.lastUsedAddress').where('userId', '=', userId),
      'id',
      page,
      page.sort === '-createdAt',
    ).execute(),

  /** The networks that a token or an API key was used from; `null` before its first use. */
  usedNetworks: (
    db: Db,
    id: TokenId | ApiKeyId,
  ): Promise<
    { readonly userId: UserId; readonly name: string; readonly networks: readonly string[] | null } | undefined
  > =>
    db
      .selectFrom(isId('token', id) ? 'tokens' : 'api_keys')
      .select(['userId', 'name', 'usedNetworks as networks'])
      .where('id', '=', id as TokenId & ApiKeyId)
      .executeTakeFirst(),
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

  /** Deletes a user's tokens that belong to no session, except one, and all API keys and rules of trusted publishing. */
  deleteTokensAndKeysOf: mutation(
    { audit: true, invalidates: (userId) => [userId], usesDiskReserve: true },
    async (db: Db, userId: UserId, except?: TokenId): Promise<void> => {
      let deletion = db.deleteFrom('tokens').where('userId', '=', userId).where('sessionId', 'is', null);
      if (except !== undefined) deletion = deletion.where('id', '!=', except);
      await deletion.execute();
      await db.deleteFrom('api_keys').where('userId', '=', userId).execute();
      await db.deleteFrom('trust_rules').where('userId', '=', userId).execute();
    },
  ),

  insertApiKey: statement({ audit: true, invalidates: nothing }, (db: Db, key: ApiKeyRecord) =>
    db.insertInto('api_keys').values(key),
  ),

  deleteApiKey: statement({ audit: true, invalidates: (id) => [id], usesDiskReserve: true }, (db: Db, id: ApiKeyId) =>
    db.deleteFrom('api_keys').where('id', '=', id),
  ),

  /** Stores the networks that a token or an API key was used from. */
  putUsedNetworks: statement(
    // The audit event is rate limited.
    { audit: false, invalidates: nothing },
    (db: Db, id: TokenId | ApiKeyId, usedNetworks: readonly string[]) =>
      db
        .updateTable(isId('token', id) ? 'tokens' : 'api_keys')
        .set({ usedNetworks })
        .where('id', '=', id as TokenId & ApiKeyId),
  ),

  /** Stores when and from where tokens, keys and sessions were last used. Ignores unknown ids. */
  updateLastUsed: mutation(
    // No response takes the last use from a cache.
    { audit: false, invalidates: nothing },
    async (db: Db, uses: ReadonlyMap<TokenId | ApiKeyId | SessionId, LastUse>): Promise<void> => {
      for (const [id, use] of uses) await updateLastUsedOf(db, id, use);
    },
  ),

  /** Stores when users were last seen. Ignores unknown ids. */
  updateLastSeen: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, users: ReadonlyMap<UserId, number>): Promise<void> => {
      for (const [id, lastSeenAtMs] of users) {
        await db
          .updateTable('users')
          .set({ lastSeenAtMs })
          .where('id', '=', id)
          .where('lastSeenAtMs', '<', lastSeenAtMs)
          .execute();
      }
    },
  ),
};

/** Does not overwrite a later time, which another process may have stored. */
async function updateLastUsedOf(
  db: Db,
  id: TokenId | ApiKeyId | SessionId,
  { usedAtMs, address }: LastUse,
): Promise<void> {
  await db
    .updateTable(tableOf(id))
    .set({ lastUsedAtMs: usedAtMs, lastUsedAddress: address })
    .where('id', '=', id as TokenId & ApiKeyId & SessionId)
    .where((eb) => eb.or([eb('lastUsedAtMs', 'is', null), eb('lastUsedAtMs', '<', usedAtMs)]))
    .execute();
}

function tableOf(id: TokenId | ApiKeyId | SessionId): 'tokens' | 'api_keys' | 'sessions' {
  if (id.startsWith(`${idPrefixes.token}_`)) return 'tokens';
  return id.startsWith(`${idPrefixes.session}_`) ? 'sessions' : 'api_keys';
}
