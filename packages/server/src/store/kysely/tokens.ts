import { type ApiKeyId, idPrefixes, type SessionId, type TokenId } from '@tenon/protocol';
import type { Selectable } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { TokenRecord } from '../../domain/records.ts';
import { paged } from './paging.ts';
import type { Database, Db } from './schema.ts';
import { scopesOf, scopesText } from './scopes.ts';

const apiKeyColumns = [
  'id',
  'user_id as userId',
  'name',
  'secret_hash as secretHash',
  'token_id as tokenId',
  'created_at_ms as createdAtMs',
  'expires_at_ms as expiresAtMs',
  'last_used_at_ms as lastUsedAtMs',
] as const;

const tokenColumns = [
  'id',
  'user_id',
  'name',
  'secret_hash',
  'scopes',
  'app_id',
  'session_id',
  'created_at_ms',
  'expires_at_ms',
  'last_used_at_ms',
] as const;

export function tokenQueries(
  db: Db,
): Pick<Queries, 'tokenByHash' | 'token' | 'tokens' | 'apiKeyByHash' | 'apiKey' | 'apiKeys'> {
  const tokens = db.selectFrom('tokens').select(tokenColumns);
  const apiKeys = db.selectFrom('api_keys').select(apiKeyColumns);
  return {
    async tokenByHash(secretHash) {
      const row = await tokens.where('secret_hash', '=', secretHash).executeTakeFirst();
      return row && tokenRecord(row);
    },
    async token(id) {
      const row = await tokens.where('id', '=', id).executeTakeFirst();
      return row && tokenRecord(row);
    },
    async tokens(userId, appId, page) {
      const all = tokens.where('user_id', '=', userId).where('session_id', 'is', null);
      const rows = await paged(appId === undefined ? all : all.where('app_id', '=', appId), 'id', page).execute();
      return rows.map(tokenRecord);
    },
    apiKeyByHash: (secretHash) => apiKeys.where('secret_hash', '=', secretHash).executeTakeFirst(),
    apiKey: (id) => apiKeys.where('id', '=', id).executeTakeFirst(),
    apiKeys: (userId, page) => paged(apiKeys.where('user_id', '=', userId), 'id', page).execute(),
  };
}

function tokenRecord(row: Selectable<Database['tokens']>): TokenRecord {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    secretHash: row.secret_hash,
    scopes: scopesOf(row.scopes),
    appId: row.app_id,
    sessionId: row.session_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
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
      await db
        .insertInto('tokens')
        .values({
          id: token.id,
          user_id: token.userId,
          name: token.name,
          secret_hash: token.secretHash,
          scopes: scopesText(token.scopes),
          app_id: token.appId,
          session_id: token.sessionId,
          created_at_ms: token.createdAtMs,
          expires_at_ms: token.expiresAtMs,
          last_used_at_ms: token.lastUsedAtMs,
        })
        .execute();
    },
    async deleteToken(id) {
      await db.deleteFrom('tokens').where('id', '=', id).execute();
    },
    async deleteTokensAndKeysOf(userId) {
      await db.deleteFrom('tokens').where('user_id', '=', userId).where('session_id', 'is', null).execute();
      await db.deleteFrom('api_keys').where('user_id', '=', userId).execute();
    },
    async insertApiKey(key) {
      await db
        .insertInto('api_keys')
        .values({
          id: key.id,
          user_id: key.userId,
          name: key.name,
          secret_hash: key.secretHash,
          token_id: key.tokenId,
          created_at_ms: key.createdAtMs,
          expires_at_ms: key.expiresAtMs,
          last_used_at_ms: key.lastUsedAtMs,
        })
        .execute();
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
    .set({ last_used_at_ms: usedAtMs })
    .where('id', '=', id as TokenId & ApiKeyId & SessionId)
    .where((eb) => eb.or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', usedAtMs)]))
    .execute();
}

function tableOf(id: TokenId | ApiKeyId | SessionId): 'tokens' | 'api_keys' | 'sessions' {
  if (id.startsWith(`${idPrefixes.token}_`)) return 'tokens';
  return id.startsWith(`${idPrefixes.session}_`) ? 'sessions' : 'api_keys';
}
