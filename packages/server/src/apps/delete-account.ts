import type { UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type Actor, requireActiveToken } from '../auth/access.ts';
import { requirePassword, requireUnchangedPassword } from '../auth/passwords/passwords.ts';
import { deleteBatchSize } from '../db/deletion-scope.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { finishRebind } from '../plugins/rebind.ts';
import { revokeInvitationsOf } from './invitations.ts';

/** The name of a deleted user in the lists of other users. */
const deletedUserName = 'Deleted user';

/**
 * Deletes the actor's account in one transaction: sign-in, sessions, tokens, keys, memberships, guests, and plugins with their
 * bindings. Very many bindings and versions are deleted in further transactions before this function returns. Revokes the pending
 * invitations that the actor made.
 *
 * @throws DomainError `conflict` for the only owner of an application; `password_required`, `invalid_credentials` and
 *   `rate_limited` for an account with a password
 */
export async function deleteAccount(deps: Deps, actor: Actor, password: string | undefined): Promise<void> {
  const { userId } = actor;
  await requireNotSoleOwner(deps.store.read, userId);
  let verified = await deps.store.read.password(userId);
  if (verified !== undefined) {
    if (password === undefined)
      throw new DomainError('password_required', 'Deleting an account requires its password.');
    verified = await requirePassword(deps, actor, password);
  }
  const pending = await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    if (verified !== undefined) await requireUnchangedPassword(tx, verified);
    await requireNotSoleOwner(tx, userId);
    const deletedAtMs = deps.clock();
    const apps = await tx.appsOf(userId, undefined, {});
    // Without the token and the session, which are deleted too.
    const auditActor = { userId, sessionId: null };
    for (const { id: appId } of apps) {
      await revokeInvitationsOf(deps, tx, auditActor, { appId, userId, role: undefined });
    }
    const isLarge = await tx.hasMoreRows({ userId }, deleteBatchSize);
    const plugins = isLarge ? await tx.markPluginsDeleted(userId, deletedAtMs) : [];
    await tx.eraseUser(userId, { name: deletedUserName, deletedAtMs });
    const target = { id: userId, name: deletedUserName };
    const entry = { action: 'account.delete', target } as const;
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
