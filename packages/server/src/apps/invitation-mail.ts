import type { UserId } from '@tenon/protocol';
import { chargeMail } from '../auth/quotas.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { type NewMail, queueMail } from '../mail/queue-mail.ts';

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
  await chargeMail(deps, tx, inviterId);
  await queueMail(deps, tx, { kind: 'invitation', ...mail });
}
