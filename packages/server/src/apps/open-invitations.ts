import { isId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type Actor, type AppAccess, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { invitationStatus, invitePermission } from '../auth/find-invitation.ts';
import { takeQuota } from '../auth/quotas.ts';
import { hashSecret, makeCode } from '../auth/secrets.ts';
import type { GuestRecord, InvitationRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { queueInvitationMail } from './invitation-mail.ts';
import { invitationRecipient, recordDecision } from './invitations.ts';

/* Open invitations: those that can be accepted, or could if they had not expired. */

export function openInvitation({ status }: Pick<InvitationRecord, 'status'>): boolean {
  return status === 'pending';
}

/** The link of an invitation. Only the hash of the code is stored. */
interface InvitationCode {
  readonly code: string;
  readonly expiresAtMs: number;
}

/**
 * Renews a pending or expired invitation of a guest or to the team.
 *
 * @throws DomainError `not_found`, `forbidden` if the actor may not make such an invitation, `step_up_required` to invite an owner,
 *   `conflict` if it was accepted, declined or revoked, `quota_exceeded`, `unsupported_delivery_method`, `invalid_field` to mail without
 *   an address
 */
export async function renewOneInvitation(
  deps: Deps,
  access: AppAccess,
  invitationId: string,
  deliveryMethod?: string,
): Promise<InvitationCode> {
  return deps.store.write(async (tx) => {
    const invitation = await findInvitation(tx, access, invitationId);
    if (invitation.role !== null) await requireStepUp(deps, access.actor.sessionId, tx);
    requireOpen(invitation, 'renewed');
    const { appId, guestId, email } = invitation;
    const mailTo = invitationRecipient(deps, { deliveryMethod, email: email ?? undefined });
    const nowMs = deps.clock();
    if (invitationStatus(invitation, nowMs) === 'expired') {
      await takeQuota(deps, tx, 'guests', appId, await tx.countGuests(appId, nowMs));
    }
    const guest = guestId === null ? undefined : await tx.guest(guestId);
    const renewed = await renewInvitation(deps, tx, access.actor, invitation, guest === undefined ? [] : [guest]);
    if (mailTo !== undefined) {
      const mail = { recipient: mailTo, invitationId: invitation.id, appId };
      await queueInvitationMail(deps, tx, access.actor.userId, mail);
    }
    return renewed;
  });
}

/**
 * Gives a pending or expired invitation another code, and a whole lifetime. The code before stops working. The actor becomes the inviter,
 * and so answers for it.
 *
 * @param guests the guest that it invites to; empty for an invitation to the team
 */
export async function renewInvitation(
  { clock, random, settings, ...deps }: Deps,
  tx: Transaction,
  actor: Actor,
  { id, appId, role, createdBy }: InvitationRecord,
  guests: readonly Pick<GuestRecord, 'id' | 'guestKey'>[],
): Promise<InvitationCode> {
  const [code, expiresAtMs] = [makeCode(random), clock() + settings.invitationLifetimeMs];
  await tx.renewInvitation(id, { codeHash: hashSecret(code), expiresAtMs, createdBy: actor.userId });
  const entry = { action: 'invitation.renew', appId, target: { id, name: null } } as const;
  const ofTeam = { ...entry, details: { role, invitedBy: createdBy } };
  await record({ ...deps, clock }, tx, actor, role === null ? { ...entry, guests } : ofTeam);
  return { code, expiresAtMs };
}

/** @throws DomainError `not_found`, `forbidden` */
async function findInvitation(tx: Transaction, access: AppAccess, invitationId: string): Promise<InvitationRecord> {
  await renewAccess(tx, access, 'changeGuests');
  const invitation = isId('invitation', invitationId) ? await tx.invitation(invitationId) : undefined;
  if (invitation?.appId !== access.app.id) throw notFound('invitation');
  await renewAccess(tx, access, invitePermission(invitation));
  return invitation;
}

function requireOpen(invitation: InvitationRecord, what: 'renewed' | 'revoked'): void {
  if (openInvitation(invitation)) return;
  throw new DomainError('conflict', `Only a pending invitation can be ${what}; this one was ${invitation.status}.`);
}

/**
 * Revokes a pending or expired invitation.
 *
 * @throws DomainError `not_found`, `forbidden` if the actor may not make such an invitation, `conflict` if it was accepted, declined
 *   or revoked
 */
export async function revokeInvitation(deps: Deps, access: AppAccess, invitationId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    const invitation = await findInvitation(tx, access, invitationId);
    requireOpen(invitation, 'revoked');
    await tx.closeInvitation(invitation.id, 'revoked', deps.clock());
    await recordDecision(deps, tx, access.actor, 'invitation.revoke', invitation);
  });
}
