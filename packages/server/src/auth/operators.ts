import type { UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import type { Actor } from './access.ts';

type OperatorDeps = Pick<Deps, 'store' | 'clock'>;

/**
 * Requires that the actor is an operator. It reads the store each time, so that a revocation takes effect at once.
 *
 * @throws DomainError `forbidden`
 */
export async function requireOperator(read: Queries, { userId }: Actor): Promise<void> {
  if (await read.isOperator(userId)) return;
  throw new DomainError(
    'forbidden',
    'Only operators can read the status of the server. Make one with "tenon admin operator grant".',
  );
}

/**
 * Makes a user an operator, as part of a transaction. Does nothing if the user is one.
 *
 * @param means why: for the first account, or by a command on the machine
 * @returns whether the user was not an operator before
 * @throws DomainError `not_found`
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

/** As {@link insertOperator}, in its own transaction. */
export function grantOperator(deps: OperatorDeps, userId: UserId): Promise<boolean> {
  return deps.store.write((tx) => insertOperator(deps, tx, userId, 'operator'));
}

/** @returns whether the user was an operator before. @throws DomainError `not_found` */
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
