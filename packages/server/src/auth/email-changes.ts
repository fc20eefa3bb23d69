import { type AuditUserActor, record } from '../audit/record.ts';
import { isMailAddress } from '../config/readers.ts';
import type { UserRecord } from '../db/records.ts';
import { ConflictError, type Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { invalidField, notFound, TooManyAttemptsError } from '../http/domain-errors.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { type Actor, requireActiveToken } from './access.ts';
import { type AccountDetails, readAccount } from './accounts.ts';
import { requireStepUp } from './confirmation.ts';
import { parseEmail } from './emails.ts';
import { findMailedCode } from './mailed-links.ts';
import { requireUser } from './manage-users.ts';
import { emailTaken, requireUnusedEmail } from './sign-up.ts';

/*
 * The change of an account's e-mail address. If the server sends mail, the address changes when a mailed link proves that the user reads
 * the new one. Otherwise it changes at once, and counts as not verified.
 */

/** A user, and the network address from which the user acts. */
type AddressedActor = AuditUserActor & { readonly address: string };

/**
 * Changes the actor's address, or mails a link to the new one. The actor's present address cancels a requested change. Does the same
 * for an address of another account, as far as the actor can see, if the server sends mail.
 *
 * @param address the client's network address
 * @returns the account, with the address that it has until the link is used
 * @throws DomainError `step_up_required`, `invalid_field`, `rate_limited`; `email_taken` if the server sends no mail
 */
export async function changeEmail(deps: Deps, actor: Actor, text: string, address: string): Promise<AccountDetails> {
  await requireStepUp(deps, actor.sessionId);
  const sendsMail = deps.settings.smtp !== undefined;
  const email = parseEmail(text);
  if (sendsMail && !isMailAddress(email)) throw invalidField('/email', 'must be an address that mail can go to');
  const seconds = deps.rates.verifications.take(actor.userId);
  if (seconds > 0) throw new TooManyAttemptsError('Too many links were requested.', seconds);
  const by = { ...actor, address };
  await writeEmail(deps, async (tx) => {
    await requireActiveToken(tx, actor);
    await requireStepUp(deps, actor.sessionId, tx);
    const user = await requireUser(tx, actor.userId);
    await tx.deleteEmailChangesOf(user.id);
    if (user.email === email) return;
    if (sendsMail) await requestChange(deps, tx, by, user, email);
    else await putEmail(deps, tx, by, user, email);
  });
  return readAccount(deps, actor.userId);
}

async function requestChange(
  deps: Deps,
  tx: Transaction,
  by: AddressedActor,
  user: UserRecord,
  email: string,
): Promise<void> {
  await record(deps, tx, by, { action: 'account.email_request', target: user });
  await queueMail(deps, tx, { kind: 'change_email', recipient: email, userId: user.id });
  await notifyOldAddress(deps, tx, by, user, {});
}

async function putEmail(
  deps: Deps,
  tx: Transaction,
  by: AddressedActor,
  user: UserRecord,
  email: string,
): Promise<void> {
  await requireUnusedEmail(tx, email);
  await record(deps, tx, by, { action: 'account.email_change', target: user });
  await tx.setEmail(user.id, email);
  await tx.expireLinksOf(user.id, deps.clock()); // some were mailed to the address before
}

/** Notifies the old address, verified or not: its reader may have to stop a thief. */
async function notifyOldAddress(
  deps: Deps,
  tx: Transaction,
  { address }: AddressedActor,
  { id, email }: UserRecord,
  facts: { readonly isDone?: 'true' },
): Promise<void> {
  if (deps.settings.smtp === undefined || email === null || !isMailAddress(email)) return;
  const at = new Date(deps.clock()).toISOString();
  await queueMail(deps, tx, {
    kind: 'email_change_notice',
    recipient: email,
    userId: id,
    facts: { ...facts, address, at },
  });
}

/**
 * Changes a user's address with a mailed code, which also verifies it.
 *
 * @param address the client's network address
 * @returns the new e-mail address
 * @throws DomainError `not_found`, `link_expired`, `email_taken`
 */
export function confirmEmailChange(deps: Deps, code: string, address: string): Promise<string> {
  return writeEmail(deps, async (tx) => {
    const { userId, recipient } = await findMailedCode(tx, code, 'change_email', deps.clock());
    const user = userId === null ? undefined : await tx.user(userId);
    if (user?.deletedAtMs !== null || user.suspendedAtMs !== null) throw notFound('link');
    const by = { userId: user.id, sessionId: null, address };
    await putEmail(deps, tx, by, user, recipient);
    await tx.deleteEmailChangesOf(user.id);
    const muted = (await tx.mailPreferences(user.id))?.muted ?? [];
    await tx.putMailPreferences({ userId: user.id, verifiedEmail: recipient, muted });
    await notifyOldAddress(deps, tx, by, user, { isDone: 'true' });
    return recipient;
  });
}

/** @throws DomainError `email_taken` if another request takes the address at the same time */
async function writeEmail<T>(deps: Deps, work: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    return await deps.store.write(work);
  } catch (error) {
    throw error instanceof ConflictError ? emailTaken(error) : error;
  }
}
