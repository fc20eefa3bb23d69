import type { UserId } from '@tenon/protocol';
import { type Db, hasRow } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';
import type { OperatorRecord } from '../db/node-records.ts';

const atMost = 1000;

export const operatorQueries = {
  isOperator: (db: Db, userId: UserId): Promise<boolean> =>
    hasRow(db.selectFrom('operators').select('userId').where('userId', '=', userId)),

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
  putOperator: statement({ audit: true, invalidates: nothing }, (db: Db, operator: OperatorRecord) =>
    db
      .insertInto('operators')
      .values(operator)
      .onConflict((conflict) => conflict.column('userId').doNothing()),
  ),

  deleteOperator: statement({ audit: true, invalidates: nothing, freesSpace: true }, (db: Db, userId: UserId) =>
    db.deleteFrom('operators').where('userId', '=', userId),
  ),
};
