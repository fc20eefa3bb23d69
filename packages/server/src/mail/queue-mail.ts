import { newId } from '@tenon/protocol';
import { isMailAddress } from '../config/readers.ts';
import type { MailRecord } from '../db/mail-records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { invalidField } from '../http/domain-errors.ts';

export type NewMail = Pick<MailRecord, 'kind' | 'recipient'> &
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

/** @throws DomainError `invalid_field` */
export function requireMailAddress(email: string | undefined, pointer = '/email'): string {
  if (email !== undefined && isMailAddress(email.trim())) return email.trim();
  throw invalidField(pointer, 'must be an e-mail address');
}
