import { newId, type UserId } from '@tenon/protocol';
import { chargeMail } from '../auth/quotas.ts';
import { isMailAddress } from '../config/readers.ts';
import type { MailRecord } from '../db/mail-records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { invalidField } from '../http/domain-errors.ts';

type NewMail = Pick<MailRecord, 'kind' | 'recipient'> &
  Partial<Pick<MailRecord, 'userId' | 'invitationId' | 'appId' | 'facts' | 'dueAtMs'>>;

/** Queues a mail in the transaction of the change that it is about. Call it only if the server sends mail. */
export async function queueMail({ clock }: Pick<Deps, 'clock'>, tx: Transaction, mail: NewMail): Promise<void> {
  const nowMs = clock();
  await tx.insertMail({
    id: newId('mail'),
    userId: null,
    invitationId: null,
    appId: null,
    facts: {},
    dueAtMs: nowMs,
    ...mail,
    state: 'queued',
    attempts: 0,
    createdAtMs: nowMs,
    error: null,
  });
}

/**
 * Queues the mail of an invitation, and charges the inviter for it. Call it only if the server sends mail.
 *
 * @throws DomainError `rate_limited`
 */
export async function queueInvitationMail(
  deps: Pick<Deps, 'clock' | 'settings'>,
  tx: Transaction,
  inviterId: UserId,
  mail: Required<Pick<NewMail, 'recipient' | 'invitationId' | 'appId'>>,
): Promise<void> {
  await chargeMail(tx, deps.settings.quotas, inviterId, deps.clock());
  await queueMail(deps, tx, { kind: 'invitation', ...mail });
}

/** @throws DomainError `invalid_field` */
export function requireMailAddress(email: string | undefined, pointer = '/email'): string {
  if (email !== undefined && isMailAddress(email.trim())) return email.trim();
  throw invalidField(pointer, 'must be an e-mail address');
}
