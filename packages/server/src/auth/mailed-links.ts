import { setTimeout as sleep } from 'node:timers/promises';
import type { UserId } from '@tenon/protocol';
import { type AuditUserActor, record } from '../audit/record.ts';
import { isMailAddress } from '../config/readers.ts';
import type { MailedCodeRecord, Notice } from '../db/mail-records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound, TooManyAttemptsError } from '../http/domain-errors.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { type Actor, requireActiveToken } from './access.ts';
import { normalizeEmail } from './emails.ts';
import { requirePasswordSignIn } from './passwords/passwords.ts';
import { hashSecret } from './secrets.ts';

/** The duration of a request for a password link, so that it doesn't reveal whether the address has an account. */
const requestMs = 250;

/**
 * Mails a link that resets the password of the account with an address. Does the same for an address without an account, as far as the
 * caller can see. An address gets few mails: requests above the limit succeed and send nothing.
 *
 * @throws DomainError `password_sign_in_off`; `not_found` if the server sends no mail; `rate_limited` for the network
 */
export async function requestPasswordLink(deps: Deps, address: string, network: string): Promise<void> {
  requirePasswordSignIn(deps);
  if (deps.settings.smtp === undefined) {
    throw new DomainError(
      'not_found',
      'This server sends no mail. Ask the operator for a link that resets your password.',
    );
  }
  const seconds = deps.rates.resetsByNetwork.take(network);
  if (seconds > 0) throw new TooManyAttemptsError('Too many password links were requested.', seconds);
  const email = normalizeEmail(address);
  const isAllowed = deps.rates.resetsByAddress.take(hashSecret(email)) === 0;
  await Promise.all([sleep(requestMs), isAllowed && isMailAddress(email) ? queuePasswordLink(deps, email) : undefined]);
}

async function queuePasswordLink(deps: Deps, email: string): Promise<void> {
  await deps.store.write(async (tx) => {
    const user = await tx.userByEmail(email);
    if (user === undefined || user.deletedAtMs !== null || user.suspendedAtMs !== null) return;
    await queueMail(deps, tx, { kind: 'password_reset', recipient: email, userId: user.id });
  });
}

/**
 * Mails a link that verifies the actor's address.
 *
 * @throws DomainError `not_found` if the server sends no mail; `conflict` if the address is verified; `invalid_field` if mail can't go to it;
 *   `rate_limited`
 */
export async function requestVerification(deps: Deps, actor: Actor): Promise<void> {
  if (deps.settings.smtp === undefined) throw new DomainError('not_found', 'This server sends no mail.');
  const seconds = deps.rates.verifications.take(actor.userId);
  if (seconds > 0) throw new TooManyAttemptsError('Too many links were requested.', seconds);
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const user = await tx.user(actor.userId);
    if (user === undefined) throw notFound('user');
    if (user.email === null || !isMailAddress(user.email)) throw invalidField('/email', 'must be an e-mail address');
    if (await isEmailVerified(tx, user)) throw new DomainError('conflict', 'Your e-mail address is verified already.');
    const newest = await tx.newestMail(user.id, 'verify_email');
    if (newest?.state === 'queued') return;
    await queueMail(deps, tx, { kind: 'verify_email', recipient: user.email, userId: user.id });
  });
}

export async function isEmailVerified(
  queries: Queries,
  { id, email }: { readonly id: UserId; readonly email: string | null },
): Promise<boolean> {
  return email !== null && (await queries.mailPreferences(id))?.verifiedEmail === email;
}

/**
 * Stores that a user reads the mails of an address, because a code that was mailed to it was used.
 *
 * @returns whether it is the user's address
 */
export async function markEmailVerified(tx: Transaction, userId: UserId, address: string): Promise<boolean> {
  const user = await tx.user(userId);
  if (user === undefined || user.email !== normalizeEmail(address)) return false;
  const present = await tx.mailPreferences(userId);
  await tx.putMailPreferences({ userId, verifiedEmail: user.email, muted: present?.muted ?? [] });
  return true;
}

/** Finds a mailed code that has not expired. @throws DomainError `not_found`, `link_expired` */
export async function findMailedCode(
  queries: Queries,
  code: string,
  purpose: MailedCodeRecord['purpose'],
  nowMs: number,
): Promise<MailedCodeRecord> {
  const found = await queries.mailedCode(hashSecret(code));
  if (found?.purpose !== purpose) throw notFound('link');
  if (found.expiresAtMs <= nowMs) throw new DomainError('link_expired', 'The link has expired. Request another one.');
  return found;
}

/**
 * Verifies an address with a mailed code.
 *
 * @returns the address
 * @throws DomainError `not_found`, `link_expired`
 */
export function verifyEmail(deps: Deps, code: string, address: string): Promise<string> {
  return deps.store.write(async (tx) => {
    const { userId, recipient } = await findMailedCode(tx, code, 'verify_email', deps.clock());
    const user = userId === null ? undefined : await tx.user(userId);
    // A link may be opened again, by a person or a scanner of mails: that changes and records nothing.
    if (user?.email === recipient && (await isEmailVerified(tx, user))) return recipient;
    if (userId === null || !(await markEmailVerified(tx, userId, recipient))) throw notFound('link');
    const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
    const actor = { userId, sessionId: null, address };
    await record(deps, tx, actor, { action: 'account.verify_email', target });
    return recipient;
  });
}

/** Turns notices off with the code of a mail. @throws DomainError `not_found`, `link_expired` */
export function unsubscribe(deps: Deps, code: string, address: string): Promise<void> {
  return deps.store.write(async (tx) => {
    const { userId, notice } = await findMailedCode(tx, code, 'unsubscribe', deps.clock());
    if (userId === null || notice === null) throw notFound('link');
    const present = await tx.mailPreferences(userId);
    if (present === undefined || present.muted.includes(notice)) return;
    await putMuted(deps, tx, { userId, sessionId: null, address }, [...present.muted, notice]);
  });
}

/** Stores which notices a user has turned off. */
export async function putMuted(
  deps: Deps,
  tx: Transaction,
  actor: AuditUserActor,
  muted: readonly Notice[],
): Promise<void> {
  const { userId } = actor;
  const present = await tx.mailPreferences(userId);
  if (new Set(present?.muted).symmetricDifference(new Set(muted)).size === 0) return;
  const details = { mutedNotices: { before: present?.muted ?? [], after: muted } };
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  await record(deps, tx, actor, { action: 'account.update', target, details });
  await tx.putMailPreferences({ userId, verifiedEmail: present?.verifiedEmail ?? null, muted: [...new Set(muted)] });
}
