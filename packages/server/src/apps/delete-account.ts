import type { UserId } from '@tenon/protocol';
import { type AuditActor, record } from '../audit/record.ts';
import { type Actor, requireActiveToken } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import {
  type OperatorActor,
  renewOperator,
  requireNotLastOperator,
  requireOther,
  requireUser,
} from '../auth/manage-users.ts';
import { hasPasskey } from '../auth/passkeys/verify-assertion.ts';
import { requirePassword, requireUnchangedPassword } from '../auth/passwords/passwords.ts';
import { deletedUserName } from '../db/audit-records.ts';
import { deleteBatchSize } from '../db/deletion-scope.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { finishRebind } from '../plugins/rebind.ts';
import { revokeInvitationsOf } from './invitations.ts';

/**
 * Deletes the actor's account in one transaction: sign-in, sessions, tokens, keys, memberships, guests, and plugins with their
 * bindings. Very many bindings and versions are deleted in further transactions before this function returns. Revokes the pending
 * invitations that the actor made.
 *
 * @throws DomainError `conflict` for the only owner of an application; `step_up_required`, `invalid_credentials` and
 *   `rate_limited` for an account with a password. In a browser's session of an account with a passkey or without a password, step-up
 *   replaces the password
 */
export async function deleteAccount(deps: Deps, actor: Actor, password: string | undefined): Promise<void> {
  const { userId } = actor;
  await requireNotSoleOwner(deps.store.read, userId);
  const stored = await deps.store.read.password(userId);
  const isSteppedUp = actor.sessionId !== null && (stored === undefined || (await hasPasskey(deps.store.read, userId)));
  if (isSteppedUp) await requireStepUp(deps, actor.sessionId);
  let verified = isSteppedUp ? undefined : stored;
  if (verified !== undefined) {
    if (password === undefined) throw new DomainError('step_up_required', 'Deleting an account requires its password.');
    verified = await requirePassword(deps, actor, password);
  }
  await erase(deps, userId, async (tx) => {
    await requireActiveToken(tx, actor);
    if (verified !== undefined) await requireUnchangedPassword(tx, verified);
    if (isSteppedUp) await requireStepUp(deps, actor.sessionId, tx);
    // Without the token and the session, which are deleted too.
    return { userId, sessionId: null };
  });
}

/**
 * Deletes another user's account, as {@link deleteAccount}.
 *
 * @throws DomainError `not_found`; `conflict` for the only owner of an application, the only operator, and the operator's own account
 */
export async function deleteUser(deps: Deps, actor: OperatorActor, id: string): Promise<void> {
  const { id: userId } = await requireUser(deps.store.read, id);
  await erase(deps, userId, async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    requireOther(actor, user, 'delete');
    await requireNotLastOperator(tx, user);
    if (actor !== 'operator') {
      await record(deps, tx, actor, { action: 'account.delete', target: { id: userId, name: deletedUserName } });
    }
    return 'operator';
  });
}

/**
 * @param authorize checks the request in the transaction
 * @returns the actor of the audit events
 */
async function erase(deps: Deps, userId: UserId, authorize: (tx: Transaction) => Promise<AuditActor>): Promise<void> {
  const pending = await deps.store.write(async (tx) => {
    const auditActor = await authorize(tx);
    await requireNotSoleOwner(tx, userId);
    const deletedAtMs = deps.clock();
    const apps = await tx.appsOf(userId, undefined, {});
    for (const { id: appId } of apps) {
      await revokeInvitationsOf(deps, tx, auditActor, { appId, userId, role: undefined });
    }
    const isLarge = await tx.hasMoreRows({ userId }, deleteBatchSize);
    const plugins = isLarge ? await tx.markPluginsDeleted(userId, deletedAtMs) : [];
    await tx.noteDeletedBindings({ userId }, deletedAtMs);
    await tx.eraseUser(userId, { name: deletedUserName, deletedAtMs });
    const target = { id: userId, name: deletedUserName };
    const entry = { action: 'account.delete', accountId: userId, target } as const;
    await record(deps, tx, auditActor, entry);
    for (const { id } of apps) await record(deps, tx, auditActor, { ...entry, appId: id });
    return plugins;
  });
  for (const plugin of pending) await finishRebind(deps, plugin);
}

async function requireNotSoleOwner(queries: Queries, userId: UserId): Promise<void> {
  const apps = await queries.appsOwnedAlone(userId);
  if (apps.length === 0) return;
  const names = apps.map(({ name }) => `"${name}"`).join(', ');
  throw new DomainError(
    'conflict',
    `You are the only owner of ${names}. First make another member an owner, or delete the application.`,
  );
}
