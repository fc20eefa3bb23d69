import { isId, type RevokedCredentials } from '@tenon/protocol';
import { type AuditEntry, record } from '../audit/record.ts';
import { type PageOf, readPage } from '../db/paging.ts';
import type { UserRecord } from '../db/records.ts';
import type { ListedUser, Queries, SortedPage, Transaction, UserSearch, UserSort } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { type Actor, requireActiveToken } from './access.ts';
import { requireStepUp } from './confirmation.ts';
import { parseEmail } from './emails.ts';
import { type CreatedLink, insertPasswordLink, type LinkDeps } from './one-time-links.ts';
import { requireOperator } from './operators.ts';
import { requirePasswordSignIn } from './passwords/passwords.ts';
import { countCredentials, revokeAllCredentials } from './revoke-credentials.ts';
import { requireUnusedEmail } from './sign-up.ts';
import { userCursor } from './user-queries.ts';

/* What operators do with the accounts of other users: over HTTP, or on the store as `operator`. */

/** An operator's account, or the operator on the store. */
export type OperatorActor = Actor | 'operator';

type ManageDeps = Pick<Deps, 'store' | 'clock'>;

export type UserWithAppCount = ListedUser & { readonly appCount: number };

export async function listUsers(
  { store: { read } }: Pick<Deps, 'store'>,
  page: SortedPage<UserSort>,
  search: UserSearch,
): Promise<PageOf<UserWithAppCount>> {
  const found = await readPage(
    page,
    (user: ListedUser) => userCursor(user, page.sort),
    (range) => read.users(range, search),
    () => read.countUsersFound(search),
  );
  const appCounts = await read.countAppsOf(found.items.map(({ id }) => id));
  return { ...found, items: found.items.map((user) => ({ ...user, appCount: appCounts.get(user.id) ?? 0 })) };
}

/** Finds a user that was not deleted. @throws DomainError `not_found` */
export async function requireUser(read: Queries, userId: string): Promise<UserRecord> {
  const user = isId('user', userId) ? await read.user(userId) : undefined;
  if (user === undefined || user.deletedAtMs !== null) throw notFound('user');
  return user;
}

/**
 * Repeats the authorization of an operator in the transaction that makes the change, and requires the password in a browser's session.
 *
 * @throws DomainError `invalid_token`, `account_suspended`, `forbidden`, `step_up_required`
 */
export async function renewOperator(deps: ManageDeps, tx: Queries, actor: OperatorActor): Promise<void> {
  if (actor === 'operator') return;
  await requireActiveToken(tx, actor);
  await requireOperator(tx, actor);
  await requireStepUp(deps, actor.sessionId, tx);
}

/** @throws DomainError `conflict` for the operator's own account */
export function requireOther(actor: OperatorActor, { id }: Pick<UserRecord, 'id'>, what: string): void {
  if (actor === 'operator' || actor.userId !== id) return;
  throw new DomainError('conflict', `You can't ${what} yourself. Ask another operator.`);
}

/** @throws DomainError `conflict` for the only operator who is not suspended */
export async function requireNotLastOperator(tx: Queries, { id }: Pick<UserRecord, 'id'>): Promise<void> {
  if (!(await tx.isOperator(id)) || (await tx.hasOtherOperator(id))) return;
  throw new DomainError('conflict', 'This is the only operator of the server. First make another user an operator.');
}

/**
 * Suspends a user: revokes all credentials except the ways to sign in, and refuses sign-ins until the suspension ends. Plugins and
 * bindings stay.
 *
 * @returns whether the user was not suspended before
 * @throws DomainError `not_found`, `conflict` for the operator's own account and for the only operator
 */
export function suspendUser(deps: ManageDeps, actor: OperatorActor, userId: string): Promise<boolean> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    requireOther(actor, user, 'suspend');
    if (user.suspendedAtMs !== null) return false;
    await requireNotLastOperator(tx, user);
    const nowMs = deps.clock();
    await tx.setSuspended(user.id, nowMs);
    await revokeAllCredentials(tx, user.id, { nowMs });
    await recordAct(deps, tx, actor, user, { action: 'account.suspend' });
    return true;
  });
}

/** @returns whether the user was suspended before. @throws DomainError `not_found` */
export function unsuspendUser(deps: ManageDeps, actor: OperatorActor, userId: string): Promise<boolean> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    if (user.suspendedAtMs === null) return false;
    await tx.setSuspended(user.id, null);
    await recordAct(deps, tx, actor, user, { action: 'account.unsuspend' });
    return true;
  });
}

/**
 * Revokes all credentials of a user except the ways to sign in.
 *
 * @returns the numbers of the revoked ones
 * @throws DomainError `not_found`, `conflict` for the operator's own account
 */
export function revokeCredentialsOf(
  deps: ManageDeps,
  actor: OperatorActor,
  userId: string,
): Promise<RevokedCredentials> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    requireOther(actor, user, 'revoke all credentials of');
    const nowMs = deps.clock();
    const revoked = await countCredentials(tx, user.id, nowMs);
    const details = { ...revoked, includesCurrent: true };
    await recordAct(deps, tx, actor, user, { action: 'account.revoke_credentials', details });
    await revokeAllCredentials(tx, user.id, { nowMs });
    return revoked;
  });
}

/**
 * Removes a user's passkeys and recovery codes, for a user who has lost them. Then the password alone signs in. Ends the sessions.
 *
 * @returns whether the user had passkeys. @throws DomainError `not_found`, `conflict` for the operator's own account
 */
export function resetSecondFactor(deps: ManageDeps, actor: OperatorActor, userId: string): Promise<boolean> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    requireOther(actor, user, 'remove the passkeys of');
    const passkeys = (await tx.passkeysOf(user.id)).length;
    if (passkeys === 0) return false;
    await tx.deleteSessionsOf(user.id);
    await tx.deletePasskeysOf(user.id);
    await tx.deletePendingSignInsOf(user.id);
    await recordAct(deps, tx, actor, user, { action: 'second_factor.reset', details: { passkeys } });
    return true;
  });
}

/** @returns whether this changed anything. @throws DomainError `not_found`, `conflict` for the operator's own role */
export function setOperator(
  deps: ManageDeps,
  actor: OperatorActor,
  userId: string,
  isOperator: boolean,
): Promise<boolean> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const user = await requireUser(tx, userId);
    if (!isOperator) requireOther(actor, user, 'revoke the operator role of');
    if ((await tx.isOperator(user.id)) === isOperator) return false;
    if (isOperator) {
      await tx.putOperator({ userId: user.id, createdAtMs: deps.clock() });
      await recordAct(deps, tx, actor, user, { action: 'operator.grant', details: { means: 'operator' } });
    } else {
      await tx.deleteOperator(user.id);
      await recordAct(deps, tx, actor, user, { action: 'operator.revoke' });
    }
    return true;
  });
}

/**
 * Creates a link that sets a user's password. A user without an e-mail address gets the given one.
 *
 * @throws DomainError `password_sign_in_off` unless the operator acts on the store; `not_found`, `invalid_field` if an e-mail address is missing or differs from the user's, `email_taken`,
 *   `conflict` for a suspended user
 */
export function createPasswordLink(
  deps: LinkDeps,
  actor: OperatorActor,
  userId: string,
  email?: string,
): Promise<CreatedLink> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    if (actor !== 'operator') requirePasswordSignIn(deps);
    const user = await requireUser(tx, userId);
    if (user.suspendedAtMs !== null) {
      throw new DomainError('conflict', 'The user is suspended, and could not use the link. First end the suspension.');
    }
    const newEmail = email === undefined ? user.email : parseEmail(email);
    if (newEmail === null) {
      throw new DomainError('invalid_field', 'The user has no e-mail address to sign in with. Give one.');
    }
    if (user.email !== null && newEmail !== user.email) {
      throw new DomainError(
        'invalid_field',
        `The user already has the e-mail address ${user.email}, and can't get another one (got ${newEmail}).`,
      );
    }
    if (user.email === null) {
      await requireUnusedEmail(tx, newEmail);
      await tx.deleteEmailChangesOf(user.id);
      await tx.setEmail(user.id, newEmail);
    }
    const link = await insertPasswordLink(deps, tx, user.id);
    await recordAct(deps, tx, actor, user, {
      action: 'account.password_link',
      details: { linkId: link.record.id },
    });
    return link;
  });
}

type OperatorAction =
  | 'account.suspend'
  | 'account.unsuspend'
  | 'account.password_link'
  | 'account.revoke_credentials'
  | 'operator.grant'
  | 'operator.revoke'
  | 'second_factor.reset';

type OperatorAct = { [A in OperatorAction]: Pick<AuditEntry<A>, 'action' | 'details'> }[OperatorAction];

/** Records what an operator did to a user: in the user's trail without the operator's name, and in the operator's own trail. */
async function recordAct(
  deps: ManageDeps,
  tx: Transaction,
  actor: OperatorActor,
  user: UserRecord,
  act: OperatorAct,
): Promise<void> {
  await record(deps, tx, 'operator', { ...act, accountId: user.id, target: user });
  if (actor !== 'operator') await record(deps, tx, actor, { ...act, target: user });
}
