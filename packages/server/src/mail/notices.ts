import type { AppId, MemberRole, UserId } from '@tenon/protocol';
import { isMailAddress } from '../config/readers.ts';
import type { Settings } from '../config/settings.ts';
import type { MailRecord, Notice } from '../db/mail-records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueMail } from './queue-mail.ts';

type NoticeDeps = Pick<Deps, 'clock'> & { readonly settings: Pick<Settings, 'smtp'> };

/**
 * Returns the address for a notice: the user's, if a mailed link has verified it. `undefined` if the user has turned the notice off, or
 * was suspended or deleted.
 */
export async function noticeAddress(queries: Queries, userId: UserId, notice: Notice): Promise<string | undefined> {
  const [user, preferences] = [await queries.user(userId), await queries.mailPreferences(userId)];
  const isActive = user?.deletedAtMs === null && user.suspendedAtMs === null;
  if (!isActive || user.email === null || preferences?.verifiedEmail !== user.email) return undefined;
  return preferences.muted.includes(notice) || !isMailAddress(user.email) ? undefined : user.email;
}

/** Queues a notice in the transaction of the change that it is about, if the server sends mail and the user gets the notice. */
export async function queueNotice(
  deps: NoticeDeps,
  tx: Transaction,
  userId: UserId,
  notice: Notice,
  fields: Pick<MailRecord, 'facts'> & Partial<Pick<MailRecord, 'appId' | 'dueAtMs'>>,
): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  const recipient = await noticeAddress(tx, userId, notice);
  if (recipient !== undefined) await queueMail(deps, tx, { kind: notice, recipient, userId, ...fields });
}

/** The time between two notices about waiting versions of an application to one member, in milliseconds. */
const approvalIntervalMs = 60 * 60_000;

/** The maximum number of members who get a notice of one change. */
const maxRecipients = 50;

/**
 * Queues a notice that versions wait for approval, to the members who may approve them. The notice lists what waits when it is sent. A
 * member gets one an hour for each application.
 */
export async function queueApprovalNotices(deps: NoticeDeps, tx: Transaction, appId: AppId): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  const members = await tx.members(appId, { limit: maxRecipients, sort: 'role' }, undefined);
  for (const { userId, role } of members) {
    if (role === 'viewer') continue;
    const newest = await tx.newestMail(userId, 'approvals', appId);
    if (newest?.state === 'queued') continue;
    const nowMs = deps.clock();
    const dueAtMs = Math.max(nowMs, newest === undefined ? 0 : newest.dueAtMs + approvalIntervalMs);
    await queueNotice(deps, tx, userId, 'approvals', {
      appId,
      facts: {},
      dueAtMs: Math.min(dueAtMs, nowMs + approvalIntervalMs),
    });
  }
}

/** Queues a notice to the members of an application who may change it, at most {@link maxRecipients}. */
export async function queueTeamNotices(
  deps: NoticeDeps,
  tx: Transaction,
  appId: AppId,
  notice: Notice,
  facts: MailRecord['facts'],
): Promise<void> {
  await queueMemberNotices(deps, tx, appId, notice, facts, ['owner', 'admin']);
}

/** Queues a notice to the owners of an application, at most {@link maxRecipients}. */
export async function queueOwnerNotices(
  deps: NoticeDeps,
  tx: Transaction,
  appId: AppId,
  notice: Notice,
  facts: MailRecord['facts'],
): Promise<void> {
  await queueMemberNotices(deps, tx, appId, notice, facts, ['owner']);
}

async function queueMemberNotices(
  deps: NoticeDeps,
  tx: Transaction,
  appId: AppId,
  notice: Notice,
  facts: MailRecord['facts'],
  roles: readonly MemberRole[],
): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  const members = await tx.members(appId, { limit: maxRecipients, sort: 'role' }, undefined);
  for (const { userId, role } of members) {
    if (roles.includes(role)) await queueNotice(deps, tx, userId, notice, { appId, facts });
  }
}

/** The time between two notices about new networks to one user, in milliseconds. */
const networkIntervalMs = 60 * 60_000;

/**
 * Queues a notice that a token or an API key was used from a new network. The notice lists the audit events since this time when it is
 * sent. A user gets one an hour.
 */
export async function queueNetworkNotice(deps: NoticeDeps, tx: Transaction, userId: UserId): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  const newest = await tx.newestMail(userId, 'newNetworks');
  if (newest?.state === 'queued') return;
  const nowMs = deps.clock();
  const dueAtMs = Math.max(nowMs, newest === undefined ? 0 : newest.dueAtMs + networkIntervalMs);
  await queueNotice(deps, tx, userId, 'newNetworks', {
    // The event was recorded just before.
    facts: { since: new Date(nowMs - 60_000).toISOString() },
    dueAtMs: Math.min(dueAtMs, nowMs + networkIntervalMs),
  });
}
