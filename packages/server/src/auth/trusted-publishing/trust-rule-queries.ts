import type { AppId, TrustRuleId, UserId } from '@tenon/protocol';
import type { Db } from '../../db/db.ts';
import { mutation, nothing, statement } from '../../db/mutation.ts';
import { paged } from '../../db/page-queries.ts';
import type { Page } from '../../db/query-types.ts';
import { columns } from '../../db/records.ts';
import type { TrustRuleRecord, UsedIdTokenRecord } from '../../db/trust-records.ts';

/** A rule with the name of its user. */
export type TrustRuleWithUser = TrustRuleRecord & { readonly userName: string };

const rules = (db: Db) =>
  db
    .selectFrom('trust_rules')
    .innerJoin('users', 'users.id', 'trust_rules.userId')
    .select(columns.trustRules)
    .select('users.name as userName');

export const trustRuleQueries = {
  trustRule: (db: Db, id: TrustRuleId): Promise<TrustRuleRecord | undefined> =>
    db.selectFrom('trust_rules').select(columns.trustRules).where('id', '=', id).executeTakeFirst(),

  trustRulesOf: (db: Db, userId: UserId, page: Page): Promise<TrustRuleWithUser[]> =>
    paged(rules(db).where('trust_rules.userId', '=', userId), 'trust_rules.id', page).execute(),

  trustRulesOfApp: (db: Db, appId: AppId, page: Page): Promise<TrustRuleWithUser[]> =>
    paged(rules(db).where('trust_rules.appId', '=', appId), 'trust_rules.id', page).execute(),

  /** The rules of all users that name an issuer, by id. */
  trustRulesOfIssuer(
    db: Db,
    issuer: string,
    { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<TrustRuleRecord[]> {
    return db
      .selectFrom('trust_rules')
      .select(columns.trustRules)
      .where('issuer', '=', issuer)
      .where('id', '>', after as TrustRuleId)
      .orderBy('id')
      .limit(limit)
      .execute();
  },

  async countTrustRules(db: Db, userId: UserId): Promise<number> {
    const found = await db.selectFrom('trust_rules').select('id').where('userId', '=', userId).execute();
    return found.length;
  },

  /** Counts the tokens of a rule that have not expired, up to a limit. */
  async countTokensOfTrustRule(db: Db, id: TrustRuleId, nowMs: number, limit: number): Promise<number> {
    const live = db.selectFrom('tokens').select('id').where('trustRuleId', '=', id).where('expiresAtMs', '>', nowMs);
    return (await live.limit(limit).execute()).length;
  },
};

export const trustRuleMutations = {
  insertTrustRule: statement({ audit: true, invalidates: nothing }, (db: Db, rule: TrustRuleRecord) =>
    db.insertInto('trust_rules').values(rule),
  ),

  /** Also deletes the tokens that were issued by it. */
  deleteTrustRule: mutation(
    {
      audit: true,
      invalidates: (id) => async (db) => {
        const issued = await db.selectFrom('tokens').select('id').where('trustRuleId', '=', id).execute();
        return issued.map((token) => token.id);
      },
      usesDiskReserve: true,
    },
    async (db: Db, id: TrustRuleId): Promise<void> => {
      await db.deleteFrom('tokens').where('trustRuleId', '=', id).execute();
      await db.deleteFrom('trust_rules').where('id', '=', id).execute();
    },
  ),

  setTrustRuleUsed: statement({ audit: false, invalidates: nothing }, (db: Db, id: TrustRuleId, lastUsedAtMs: number) =>
    db.updateTable('trust_rules').set({ lastUsedAtMs }).where('id', '=', id),
  ),

  /** @throws ConflictError if the identity token was used already */
  insertUsedIdToken: statement({ audit: false, invalidates: nothing }, (db: Db, used: UsedIdTokenRecord) =>
    db.insertInto('used_id_tokens').values(used),
  ),
};
