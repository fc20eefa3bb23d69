import type { UserId } from '@tenon/protocol';
import { changedFields, record } from '../audit/record.ts';
import { type Notice, noticeNames } from '../db/mail-records.ts';
import type { UserRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { type Actor, mayCreateApps, requireActiveToken, requireNotSuspended } from './access.ts';
import { requireStepUp } from './confirmation.ts';
import { markEmailVerified, putMuted } from './mailed-links.ts';
import { findUsableLink } from './one-time-links.ts';
import { type PendingSignIn, startSessionOrAsk } from './passkeys/second-factor.ts';
import { hasPasskey } from './passkeys/verify-assertion.ts';
import { hashNewPassword } from './passwords/password-policy.ts';
import { requirePassword, requirePasswordSignIn, requireUnchangedPassword } from './passwords/passwords.ts';
import { revokeAllCredentials } from './revoke-credentials.ts';
import { hashSecret } from './secrets.ts';
import type { Browser, StartedSession } from './sessions.ts';

/** A user, as the user sees it. */
export interface AccountDetails {
  readonly user: UserRecord;
  readonly isOperator: boolean;
  readonly mayCreateApps: boolean;
  readonly isEmailVerified: boolean;
  readonly hasPassword: boolean;
  /** The notices that the user has turned off. */
  readonly muted: readonly Notice[];
}

/** @throws DomainError `not_found` if the user doesn't exist or was deleted */
export async function readAccount(deps: Deps, userId: UserId): Promise<AccountDetails> {
  const { read } = deps.store;
  const [user, isOperator, isAppCreator, preferences, password] = await Promise.all([
    read.user(userId),
    read.isOperator(userId),
    mayCreateApps(deps, read, userId),
    read.mailPreferences(userId),
    read.password(userId),
  ]);
  if (user === undefined || user.deletedAtMs !== null) throw notFound('user');
  const isEmailVerified = user.email !== null && preferences?.verifiedEmail === user.email;
  const hasPassword = password !== undefined;
  return {
    user,
    isOperator,
    mayCreateApps: isAppCreator,
    isEmailVerified,
    hasPassword,
    muted: preferences?.muted ?? [],
  };
}

/** Changes the given fields. */
export async function updateAccount(
  deps: Deps,
  actor: Actor,
  change: {
    readonly name?: string | undefined;
    readonly notices?: { readonly [Name in Notice]?: boolean | undefined } | undefined;
  },
): Promise<AccountDetails> {
  const { name, notices } = change;
  if (name !== undefined || notices !== undefined) {
    await deps.store.write(async (tx) => {
      await requireActiveToken(tx, actor);
      const user = await tx.user(actor.userId);
      if (user === undefined || user.deletedAtMs !== null) throw notFound('user');
      if (notices !== undefined) {
        const before = (await tx.mailPreferences(user.id))?.muted ?? [];
        const isMuted = (notice: Notice) => !(notices[notice] ?? !before.includes(notice));
        await putMuted(deps, tx, actor, noticeNames.filter(isMuted));
      }
      if (name === undefined) return;
      const details = changedFields(user, { ...user, name }, ['name']);
      await record(deps, tx, actor, { action: 'account.update', target: user, details });
      await tx.renameUser(user.id, name);
    });
  }
  return readAccount(deps, actor.userId);
}

/**
 * Changes the actor's password, and revokes the other credentials, as {@link revokeAllCredentials}.
 *
 * @throws DomainError `invalid_credentials`, `rate_limited`, `weak_password`; `conflict` for an account without a password;
 *   `step_up_required` if the account has a passkey
 */
export async function changePassword(
  deps: Deps,
  actor: Actor,
  change: {
    readonly currentPassword: string;
    readonly newPassword: string;
    readonly revokeTokens?: boolean | undefined;
  },
): Promise<void> {
  const { userId, sessionId } = actor;
  // Without a passkey, the password in the request is the step-up.
  if (await hasPasskey(deps.store.read, userId)) await requireStepUp(deps, sessionId);
  const verified = await requirePassword(deps, actor, change.currentPassword);
  const { user } = await readAccount(deps, userId);
  const hash = await hashNewPassword(deps, change.newPassword, user, 'newPassword');
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    await requireUnchangedPassword(tx, verified);
    const updatedAtMs = deps.clock();
    const details = { revokedTokens: change.revokeTokens === true };
    await record(deps, tx, actor, { action: 'account.password_change', target: user, details });
    await tx.putPassword({ userId, hash, updatedAtMs });
    const exceptSession = sessionId ?? undefined;
    const revokeTokens = change.revokeTokens === true;
    await revokeAllCredentials(tx, userId, { nowMs: updatedAtMs, exceptSession, revokeTokens });
    if (sessionId !== null) await tx.confirmSession(sessionId, updatedAtMs);
  });
}

/**
 * Sets a password by a password link, revokes the user's credentials as {@link revokeAllCredentials}, and signs the user in, or asks for
 * the second factor.
 *
 * @param reset `revokeTokens`: whether access tokens and API keys are revoked too. Default: `true`
 * @throws DomainError `not_found`, `link_used`, `link_expired`, `weak_password`, `account_suspended`; `password_sign_in_off` for a mailed link
 */
export async function resetPassword(
  deps: Deps,
  reset: { readonly code: string; readonly password: string; readonly revokeTokens?: boolean | undefined },
  browser: Browser,
): Promise<StartedSession | PendingSignIn> {
  const { code, password, revokeTokens = true } = reset;
  const found = await findLinkOwner(deps, deps.store.read, code);
  // Hashing is costly: hash one password at a time for each link, and none once the link has been used.
  return deps.mutex(found.linkId, async () => {
    const { user } = await findLinkOwner(deps, deps.store.read, code);
    const hash = await hashNewPassword(deps, password, user, 'password');
    return deps.store.write(async (tx) => {
      const { linkId } = await findLinkOwner(deps, tx, code);
      const nowMs = deps.clock();
      await tx.useOneTimeLink(linkId, nowMs);
      await tx.putPassword({ userId: user.id, hash, updatedAtMs: nowMs });
      const mailed = await tx.mailedCode(hashSecret(code));
      // A link of the operator works even so: it is the way in if no provider works.
      if (mailed !== undefined) requirePasswordSignIn(deps);
      if (mailed !== undefined) await markEmailVerified(tx, user.id, mailed.recipient);
      await revokeAllCredentials(tx, user.id, { nowMs, revokeTokens });
      const actor = { userId: user.id, sessionId: null, address: browser.address };
      const details = { linkId, revokedTokens: revokeTokens };
      await record(deps, tx, actor, { action: 'account.password_reset', target: user, details });
      return startSessionOrAsk(deps, tx, user.id, { ...browser, browserSecret: undefined }, 'password_link');
    });
  });
}

async function findLinkOwner({ clock }: Deps, queries: Queries, code: string) {
  const link = await findUsableLink(queries, code, clock(), 'reset_password');
  const user = link.userId === null ? undefined : await queries.user(link.userId);
  if (user === undefined) throw notFound('link');
  requireNotSuspended(user);
  return { linkId: link.id, user };
}
