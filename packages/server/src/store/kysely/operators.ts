import type { UserId } from '@tenon/protocol';
import type { OperatorRecord } from '../../domain/status/ports.ts';
import type { Db } from './db.ts';
import { mutation, nothing } from './mutation.ts';

const atMost = 1000;

export const operatorQueries = {
  async isOperator(db: Db, userId: UserId): Promise<boolean> {
    const row = await db.selectFrom('operators').select('userId').where('userId', '=', userId).executeTakeFirst();
    return row !== undefined;
  },

  /** By user id, with the users' names; a thousand at the most. */
  operators: (db: Db): Promise<(OperatorRecord & { readonly userName: string })[]> =>
    db
      .selectFrom('operators')
      .innerJoin('users', 'users.id', 'operators.userId')
      .select(['operators.userId', 'operators.createdAtMs', 'users.name as userName'])
      .orderBy('operators.userId')
      .limit(atMost)
      .execute(),
};

export const operatorMutations = {
  /** Makes a user an operator; for one who is already nothing changes. */
  putOperator: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, operator: OperatorRecord): Promise<void> => {
      await db
        .insertInto('operators')
        .values(operator)
        .onConflict((conflict) => conflict.column('userId').doNothing())
        .execute();
    },
  ),

  deleteOperator: mutation(
    { audit: true, invalidates: nothing, freesSpace: true },
    async (db: Db, userId: UserId): Promise<void> => {
      await db.deleteFrom('operators').where('userId', '=', userId).execute();
    },
  ),
};
