import type { UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import type { Actor } from './access.ts';

/**
 * Requires that the actor is an operator. It reads the store each time, so that a revocation takes effect at once.
 *
 * @throws DomainError `forbidden`
 */
export async function requireOperator(read: Queries, { userId }: Actor): Promise<void> {
  if (await read.isOperator(userId)) return;
  throw new DomainError(
    'forbidden',
    'Only operators of the server can do this. Make one with "tenon admin operator grant".',
  );
}

/** Makes the user of the server's first account an operator. @throws DomainError `not_found` */
export async function insertFirstOperator(deps: Pick<Deps, 'clock'>, tx: Transaction, userId: UserId): Promise<void> {
  const user = await tx.user(userId);
  if (user === undefined) throw notFound('user');
  await tx.putOperator({ userId, createdAtMs: deps.clock() });
  const details = { means: 'first_account' };
  await record(deps, tx, 'operator', { action: 'operator.grant', accountId: userId, target: user, details });
}
