import { type AppId, type InvitationStatus, isId } from '@tenon/protocol';
import { type Actor, type AppAccess, demandStanding, renewAccess } from './access.ts';
import { type AuditBy, record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import type { Queries, Transaction } from './ports.ts';
import type { AppRecord, GuestRecord, InvitationRecord } from './records.ts';
import { hashSecret } from './secrets.ts';

/*
 * An invitation's states, and who moves it between them:
 *
 *   pending ──► accepted   the invited user
 *           ──► declined   the invited user
 *           ──► revoked    an owner or admin of the application
 *           ──► expired    the clock
 */

/** An invitation's state now. */
export function invitationStatus(invitation: InvitationRecord, nowMs: number): InvitationStatus {
  return invitation.status === 'pending' && invitation.expiresAtMs <= nowMs ? 'expired' : invitation.status;
}

/** What somebody who holds an invitation's link may know of it before deciding. */
export interface InvitationSummary {
  readonly app: AppRecord;
  readonly status: InvitationStatus;
  readonly expiresAtMs: number;
}

/** @throws DomainError `not_found` for a code that no invitation has */
export async function describeInvitation(context: Context, code: string): Promise<InvitationSummary> {
  const invitation = await findByCode(context.store.read, code);
  const app = await context.store.read.app(invitation.appId);
  if (app === undefined) throw notFound('invitation');
  return { app, status: invitationStatus(invitation, context.clock()), expiresAtMs: invitation.expiresAtMs };
}

/** What the holder of a pending invitation's code may know of it, before there is an account even. */
export interface InvitationPreview {
  readonly app: AppRecord;
  readonly expiresAtMs: number;
  /** Whether an account can be made by means of it. */
  readonly allowsSignUp: boolean;
}

/** @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked` */
export async function previewInvitation(context: Context, code: string): Promise<InvitationPreview> {
  const { invitation, app } = await findPendingInvitation(context.store.read, code, context.clock());
  const allowsSignUp =
    context.signUp === 'open' || (context.signUp === 'invitation' && invitation.signedUpUserId === null);
  return { app, expiresAtMs: invitation.expiresAtMs, allowsSignUp };
}

/**
 * Makes the actor hold the guest that the invitation is for. It binds nothing by itself: the next publish does.
 *
 * @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked`
 */
export function acceptInvitation(
  context: Context,
  actor: Actor,
  code: string,
): Promise<{ readonly app: AppRecord; readonly guest: GuestRecord }> {
  const nowMs = context.clock();
  return context.store.write(async (tx) => {
    await demandStanding(tx, actor);
    const { invitation, app } = await findPendingInvitation(tx, code, nowMs, actor.appId);
    const guest = await tx.guest(invitation.guestId);
    if (guest === undefined) throw notFound('invitation');
    await tx.settleInvitation(invitation.id, 'accepted', nowMs);
    await tx.putGuestUser({ guestId: guest.id, userId: actor.userId, acceptedAtMs: nowMs });
    await recordSettled(context, tx, actor, 'invitation.accept', invitation);
    return { app, guest };
  });
}

/** @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked` */
export function declineInvitation(context: Context, actor: Actor, code: string): Promise<AppRecord> {
  const nowMs = context.clock();
  return context.store.write(async (tx) => {
    const { invitation, app } = await findPendingInvitation(tx, code, nowMs, actor.appId);
    await tx.settleInvitation(invitation.id, 'declined', nowMs);
    await recordSettled(context, tx, actor, 'invitation.decline', invitation);
    return app;
  });
}

/**
 * Makes a pending invitation's code stop working; one that has expired can be revoked too.
 *
 * @throws DomainError `not_found`, or `conflict` when it was accepted, declined or revoked before
 */
export async function revokeInvitation(context: Context, access: AppAccess, invitationId: string): Promise<void> {
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const invitation = isId('invitation', invitationId) ? await tx.invitation(invitationId) : undefined;
    if (invitation?.appId !== access.app.id) throw notFound('invitation');
    if (invitation.status !== 'pending') {
      throw new DomainError('conflict', `Only a pending invitation can be revoked; this one was ${invitation.status}.`);
    }
    await tx.settleInvitation(invitation.id, 'revoked', context.clock());
    await recordSettled(context, tx, access.actor, 'invitation.revoke', invitation);
  });
}

async function recordSettled(
  context: Context,
  tx: Transaction,
  by: AuditBy,
  action: 'invitation.accept' | 'invitation.decline' | 'invitation.revoke',
  { id, appId, guestId }: InvitationRecord,
): Promise<void> {
  const guest = await tx.guest(guestId);
  const guests = guest === undefined ? [] : [guest];
  await record(context, tx, by, { action, appId, target: { id, name: null }, guests });
}

async function findByCode(queries: Queries, code: string): Promise<InvitationRecord> {
  const invitation = await queries.invitationByCodeHash(hashSecret(code));
  if (invitation === undefined) throw notFound('invitation');
  return invitation;
}

/** An invitation that can still be accepted, with the application that invites. */
export interface PendingInvitation {
  readonly invitation: InvitationRecord;
  readonly app: AppRecord;
}

/**
 * Finds a pending invitation by its code.
 *
 * @param within the one application that the asker's token is restricted to
 * @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked`
 */
export async function findPendingInvitation(
  queries: Queries,
  code: string,
  nowMs: number,
  within: AppId | null = null,
): Promise<PendingInvitation> {
  const invitation = await findByCode(queries, code);
  const app = await queries.app(invitation.appId);
  if (app === undefined || (within !== null && within !== app.id)) throw notFound('invitation');
  switch (invitationStatus(invitation, nowMs)) {
    case 'accepted':
    case 'declined':
      throw new DomainError('invitation_used', 'The invitation has been used. Ask for another one.');
    case 'expired':
      throw new DomainError('invitation_expired', 'The invitation has expired. Ask for another one.');
    case 'revoked':
      throw new DomainError('invitation_revoked', 'The invitation has been revoked by those who made it.');
    case 'pending':
      return { invitation, app };
  }
}
