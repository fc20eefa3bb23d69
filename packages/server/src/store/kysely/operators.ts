import type { StatusMutations, StatusQueries } from '../../domain/status/ports.ts';
import type { Db } from './db.ts';

const atMost = 1000;

export function operatorQueries(db: Db): Pick<StatusQueries, 'isOperator' | 'operators'> {
  return {
    async isOperator(userId) {
      const row = await db.selectFrom('operators').select('userId').where('userId', '=', userId).executeTakeFirst();
      return row !== undefined;
    },
    operators: () =>
      db
        .selectFrom('operators')
        .innerJoin('users', 'users.id', 'operators.userId')
        .select(['operators.userId', 'operators.createdAtMs', 'users.name as userName'])
        .orderBy('operators.userId')
        .limit(atMost)
        .execute(),
  };
}

export function operatorMutations(db: Db): Pick<StatusMutations, 'putOperator' | 'deleteOperator'> {
  return {
    async putOperator(operator) {
      await db
        .insertInto('operators')
        .values(operator)
        .onConflict((conflict) => conflict.column('userId').doNothing())
        .execute();
    },
    async deleteOperator(userId) {
      await db.deleteFrom('operators').where('userId', '=', userId).execute();
    },
  };
}
