import { type ApiKeyId, idPrefixes, type SessionId, type TokenId } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { paged } from './paging.ts';

export function tokenQueries(
  db: Db,
): Pick<Queries, 'tokenByHash' | 'token' | 'tokens' | 'apiKeyByHash' | 'apiKey' | 'apiKeys'> {
  const tokens = db.selectFrom('tokens').select(columns.tokens);
  const apiKeys = db.selectFrom('api_keys').select(columns.apiKeys);
  return {
    tokenByHash: (secretHash) => tokens.where('secretHash', '=', secretHash).executeTakeFirst(),
    token: (id) => tokens.where('id', '=', id).executeTakeFirst(),
    tokens(userId, appId, page) {
      const all = tokens.where('userId', '=', userId).where('sessionId', 'is', null);
      return paged(appId === undefined ? all : all.where('appId', '=', appId), 'id', page).execute();
    },
    apiKeyByHash: (secretHash) => apiKeys.where('secretHash', '=', secretHash).executeTakeFirst(),
    apiKey: (id) => apiKeys.where('id', '=', id).executeTakeFirst(),
    apiKeys: (userId, page) => paged(apiKeys.where('userId', '=', userId), 'id', page).execute(),
  };
}

export function tokenMutations(
  db: Db,
): Pick<
  Mutations,
  'insertToken' | 'deleteToken' | 'deleteTokensAndKeysOf' | 'insertApiKey' | 'deleteApiKey' | 'touch'
> {
  return {
    async insertToken(token) {
      await db.insertInto('tokens').values(token).execute();
    },
    async deleteToken(id) {
      await db.deleteFrom('tokens').where('id', '=', id).execute();
    },
    async deleteTokensAndKeysOf(userId) {
      await db.deleteFrom('tokens').where('userId', '=', userId).where('sessionId', 'is', null).execute();
      await db.deleteFrom('api_keys').where('userId', '=', userId).execute();
    },
    async insertApiKey(key) {
      await db.insertInto('api_keys').values(key).execute();
    },
    async deleteApiKey(id) {
      await db.deleteFrom('api_keys').where('id', '=', id).execute();
    },
    async touch(uses) {
      for (const [id, usedAtMs] of uses) await touchOne(db, id, usedAtMs);
    },
  };
}

/** Several processes note uses, each from time to time: a later one that is known already stays. */
async function touchOne(db: Db, id: TokenId | ApiKeyId | SessionId, usedAtMs: number): Promise<void> {
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
