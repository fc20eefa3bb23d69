import type { UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import type { Actor } from './access.ts';

type OperatorDeps = Pick<Deps, 'store' | 'clock'>;

/**
 * Lets in who may see how the server is. It is asked of the store each time: who is none any more is refused at once.
 *
 * @throws DomainError `forbidden`
 */
export async function requireOperator(read: Queries, { userId }: Actor): Promise<void> {
  if (await read.isOperator(userId)) return;
  throw new DomainError(
    'forbidden',
    'The status of the server is for its operators. Whoever runs it makes one with "tenon admin grant-operator".',
  );
}

/**
 * Makes a user an operator, as part of a transaction; one who is stays one, and that is told once.
 *
 * @param means why: the account was the first one, or the operator of the machine says so
 */
export async function insertOperator(
  deps: Pick<Deps, 'clock'>,
  tx: Transaction,
  userId: UserId,
  means: 'first_account' | 'operator',
): Promise<boolean> {
  const user = await tx.user(userId);
  if (user === undefined || user.deletedAtMs !== null) throw notFound('user');
  if (await tx.isOperator(userId)) return false;
  await tx.putOperator({ userId, createdAtMs: deps.clock() });
  await record(deps, tx, 'operator', {
    action: 'operator.grant',
    accountId: userId,
    target: user,
    details: { means },
  });
  return true;
}

/** @returns whether the user was none before. @throws DomainError `not_found` */
export function grantOperator(deps: OperatorDeps, userId: UserId): Promise<boolean> {
  return deps.store.write((tx) => insertOperator(deps, tx, userId, 'operator'));
}

/** @returns whether the user was one before. @throws DomainError `not_found` */
export function revokeOperator(deps: OperatorDeps, userId: UserId): Promise<boolean> {
  return deps.store.write(async (tx) => {
    const user = await tx.user(userId);
    if (user === undefined) throw notFound('user');
    if (!(await tx.isOperator(userId))) return false;
    await tx.deleteOperator(userId);
    await record(deps, tx, 'operator', { action: 'operator.revoke', accountId: userId, target: user });
    return true;
  });
}
