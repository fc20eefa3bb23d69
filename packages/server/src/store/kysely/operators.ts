import type { StatusMutations, StatusQueries } from '../../domain/status/ports.ts';
import type { Db } from './schema.ts';

const atMost = 1000;

export function operatorQueries(db: Db): Pick<StatusQueries, 'isOperator' | 'operators'> {
  return {
    async isOperator(userId) {
      const row = await db.selectFrom('operators').select('user_id').where('user_id', '=', userId).executeTakeFirst();
      return row !== undefined;
    },
    operators: () =>
      db
        .selectFrom('operators')
        .innerJoin('users', 'users.id', 'operators.user_id')
        .select(['operators.user_id as userId', 'operators.created_at_ms as createdAtMs', 'users.name as userName'])
        .orderBy('operators.user_id')
        .limit(atMost)
        .execute(),
  };
}

export function operatorMutations(db: Db): Pick<StatusMutations, 'putOperator' | 'deleteOperator'> {
  return {
    async putOperator({ userId, createdAtMs }) {
      await db
        .insertInto('operators')
        .values({ user_id: userId, created_at_ms: createdAtMs })
        .onConflict((conflict) => conflict.column('user_id').doNothing())
        .execute();
    },
    async deleteOperator(userId) {
      await db.deleteFrom('operators').where('user_id', '=', userId).execute();
    },
  };
}
