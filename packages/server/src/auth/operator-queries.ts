import type { UserId } from '@tenon/protocol';
import { type Db, hasRow } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';
import type { OperatorRecord } from '../db/node-records.ts';

const maxOperators = 1000;

export const operatorQueries = {
  isOperator: (db: Db, userId: UserId): Promise<boolean> =>
    hasRow(db.selectFrom('operators').select('userId').where('userId', '=', userId)),

  /** Whether an operator besides this user exists and is not suspended. */
  hasOtherOperator: (db: Db, userId: UserId): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('operators')
        .innerJoin('users', 'users.id', 'operators.userId')
        .select('operators.userId')
        .where('operators.userId', '!=', userId)
        .where('users.suspendedAtMs', 'is', null),
    ),

  /** The first {@link maxOperators} operators by user id, with the users' names. */
  operators: (db: Db): Promise<(OperatorRecord & { readonly userName: string })[]> =>
    db
      .selectFrom('operators')
      .innerJoin('users', 'users.id', 'operators.userId')
      .select(['operators.userId', 'operators.createdAtMs', 'users.name as userName'])
      .orderBy('operators.userId')
      .limit(maxOperators)
      .execute(),
};

export const operatorMutations = {
  /** Makes a user an operator. Changes nothing if the user is one. */
  putOperator: statement({ audit: true, invalidates: nothing }, (db: Db, operator: OperatorRecord) =>
    db
      .insertInto('operators')
      .values(operator)
      .onConflict((conflict) => conflict.column('userId').doNothing()),
  ),

  deleteOperator: statement({ audit: true, invalidates: nothing, usesDiskReserve: true }, (db: Db, userId: UserId) =>
    db.deleteFrom('operators').where('userId', '=', userId),
  ),
};
