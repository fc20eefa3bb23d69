import {
  type ApiKeyId,
  isId,
  maxExpiryWarningMs,
  minWarnedLifetimeMs,
  type TokenId,
  type UserId,
  warnedTenths,
} from '@tenon/protocol';
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';

/** A token or an API key that expires soon. */
export interface ExpiringCredential {
  readonly id: TokenId | ApiKeyId;
  readonly userId: UserId;
}

/** As `isExpiryNear()`, also for a while after the expiry: the server may have been down. */
const isNear = (
  nowMs: number,
) => sql<boolean>`"expiresAtMs" between ${nowMs - maxExpiryWarningMs} and ${nowMs + maxExpiryWarningMs}
  and "expiresAtMs" - "createdAtMs" >= ${minWarnedLifetimeMs}
  and ("expiresAtMs" - ${nowMs}) * 10 <= ("expiresAtMs" - "createdAtMs") * ${warnedTenths}`;

export const expiryQueries = {
  /** The first programs' tokens and API keys that expire soon, and whose users were not warned. */
  async expiringCredentials(db: Db, nowMs: number, limit: number): Promise<ExpiringCredential[]> {
    const tokens = await db
      .selectFrom('tokens')
      .select(['id', 'userId'])
      .where('sessionId', 'is', null)
      .where('expiryWarnedAtMs', 'is', null)
      .where(isNear(nowMs))
      .orderBy('expiresAtMs')
      .limit(limit)
      .execute();
    const keys = await db
      .selectFrom('api_keys')
      .select(['id', 'userId'])
      .where('expiryWarnedAtMs', 'is', null)
      .where(isNear(nowMs))
      .orderBy('expiresAtMs')
      .limit(limit - tokens.length)
      .execute();
    return [...tokens, ...keys];
  },
};

export const expiryMutations = {
  /** Stores that the users of these credentials were warned. */
  markExpiryWarned: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, ids: readonly (TokenId | ApiKeyId)[], expiryWarnedAtMs: number): Promise<void> => {
      for (const id of ids) {
        await db
          .updateTable(isId('token', id) ? 'tokens' : 'api_keys')
          .set({ expiryWarnedAtMs })
          .where('id', '=', id as TokenId & ApiKeyId)
          .execute();
      }
    },
  ),
};
