import {
  type AppId,
  type InvitationId,
  type InvitationStatus,
  type MemberRole,
  newId,
  type UserId,
} from '@tenon/protocol';
import { type AuditActor, record, recordAll } from '../audit/record.ts';
import { type Actor, requireActiveToken, requireScope } from '../auth/access.ts';
import { findByCode, findPendingInvitation, invitationStatus, mayInvite } from '../auth/find-invitation.ts';
import { takeQuota } from '../auth/quotas.ts';
import { hashSecret, makeCode } from '../auth/secrets.ts';
import type { AppRecord, GuestRecord, InvitationRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { requireMailAddress } from '../mail/queue-mail.ts';
import { queueInvitationMail } from './invitation-mail.ts';

/*
 * The user who accepts an invitation becomes a guest of an application, or a member of its team. State transitions:
 *
 *   pending ──► accepted   by the invited user
 *           ──► declined   by the invited user
 *           ──► revoked    by a member who may invite, or because the inviter lost the right to invite
 *           ──► expired    by time
 */

/**
 * Returns the address to mail an invitation to; `undefined` if the caller passes the link on.
 *
 * @throws DomainError `unsupported_delivery_method`; `invalid_field` if the address is missing or malformed
 */
export function invitationRecipient(deps: Deps, { deliveryMethod, email }: Delivery): string | undefined {
  return requireDeliveryMethod(deps, deliveryMethod) === 'link' ? undefined : requireMailAddress(email);
}

/** @throws DomainError `unsupported_delivery_method` */
export function requireDeliveryMethod({ settings }: Deps, deliveryMethod = 'link'): 'link' | 'email' {
  if (deliveryMethod === 'link' || (deliveryMethod === 'email' && settings.smtp !== undefined)) return deliveryMethod;
  const supported = settings.smtp === undefined ? '"link"' : '"link", "email"';
  const detail = `is not supported; supported: ${supported}`;
  throw new DomainError('unsupported_delivery_method', `The delivery method ${detail}.`, {
    errors: [{ pointer: '/deliveryMethod', detail }],
  });
}

export interface Delivery {
  /** `link` by default: the caller passes the link on. With `email`, the server also mails a link to the address. */
  readonly deliveryMethod?: string | undefined;
  readonly email?: string | undefined;
}

/** Finds an invitation to mail, and its application; `undefined` if it can't be accepted, or its inviter is suspended. */
export async function findSendableInvitation(tx: Transaction, id: InvitationId, nowMs: number) {
  const invitation = await tx.invitation(id);
  if (invitation === undefined || invitationStatus(invitation, nowMs) !== 'pending') return undefined;
  const [app, inviter] = [await tx.app(invitation.appId), await tx.member(invitation.appId, invitation.createdBy)];
  const isSuspended = (await tx.user(invitation.createdBy))?.suspendedAtMs != null;
  return app === undefined || isSuspended || !mayInvite(inviter?.role, invitation) ? undefined : { invitation, app };
}

/** @throws DomainError `not_found` for an unknown code */
export async function readInvitationStatus(deps: Deps, code: string): Promise<InvitationStatus> {
  const invitation = await findByCode(deps.store.read, code);
  if ((await deps.store.read.app(invitation.appId)) === undefined) throw notFound('invitation');
  return invitationStatus(invitation, deps.clock());
}

/** The data that the server shows to the holder of a pending invitation's link, even without an account. */
interface InvitationPreview {
  readonly app: AppRecord;
  /** The role of a user who accepts it. */
  readonly role: MemberRole | 'guest';
  /** The name of the inviting member; `null` for a guest, because guests may not see members. */
  readonly inviterName: string | null;
  /** The label of the guest that it invites to. */
  readonly guestLabel: string | null;
  readonly expiresAtMs: number;
  /** Whether the holder can sign up with it. */
  readonly allowsSignUp: boolean;
}

/** @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked` */
export async function previewInvitation(deps: Deps, code: string): Promise<InvitationPreview> {
  const { invitation, app } = await findPendingInvitation(deps.store.read, code, deps.clock());
  const { signUp } = deps.settings;
  const allowsSignUp = signUp === 'open' || (signUp === 'invitation' && invitation.signedUpUserId === null);
  const { role, expiresAtMs, createdBy, guestId } = invitation;
  const inviterName = role === null ? null : ((await deps.store.read.user(createdBy))?.name ?? null);
  const guest = guestId === null ? undefined : await deps.store.read.guest(guestId);
  return { app, role: role ?? 'guest', inviterName, guestLabel: guest?.label ?? null, expiresAtMs, allowsSignUp };
}

/** The result of accepting an invitation: the actor's new guest, or the actor's new role on the team. */
type AcceptedInvitation =
  | { readonly app: AppRecord; readonly guest: GuestRecord; readonly role?: undefined }
  | { readonly app: AppRecord; readonly role: MemberRole; readonly guest?: undefined };

/**
 * Accepts an invitation. The actor becomes a user of the invited guest, or a member of the team. The actor's plugins are bound under
 * the guest only by the next publish.
 *
 * @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked`; for an invitation to the team
 *   `insufficient_scope` without `manage`, and `conflict` for a user who is already a member
 */
export function acceptInvitation(deps: Deps, actor: Actor, code: string): Promise<AcceptedInvitation> {
  const nowMs = deps.clock();
  return deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const { invitation, app } = await findPendingInvitation(tx, code, nowMs, actor.appId);
    const accepted =
      invitation.role === null
        ? { guest: await becomeGuest(tx, actor, invitation, nowMs) }
        : { role: await becomeMember(tx, actor, invitation, invitation.role, nowMs) };
    await tx.closeInvitation(invitation.id, 'accepted', nowMs);
    await recordDecision(deps, tx, actor, 'invitation.accept', invitation);
    return { app, ...accepted };
  });
}

async function becomeGuest(
  tx: Transaction,
  { userId }: Actor,
  { guestId }: InvitationRecord,
  acceptedAtMs: number,
): Promise<GuestRecord> {
  const guest = guestId === null ? undefined : await tx.guest(guestId);
  if (guest === undefined) throw notFound('invitation');
  await tx.putGuestUser({ guestId: guest.id, userId, acceptedAtMs });
  return guest;
}

/**
 * Adds the actor to the team. It never changes the role of a member: an owner who accepts a lower role by mistake could leave the
 * application without an owner.
 */
async function becomeMember(
  tx: Transaction,
  actor: Actor,
  { appId }: InvitationRecord,
  role: MemberRole,
  createdAtMs: number,
): Promise<MemberRole> {
  requireScope(actor, 'manage');
  const present = await tx.member(appId, actor.userId);
  if (present !== undefined) {
    throw new DomainError(
      'conflict',
      `You are already on the team, as ${present.role}. An owner can change your role.`,
    );
  }
  await tx.putMember({ appId, userId: actor.userId, role, createdAtMs });
  return role;
}

/** @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked` */
export function declineInvitation(deps: Deps, actor: Actor, code: string): Promise<AppRecord> {
  const nowMs = deps.clock();
  return deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const { invitation, app } = await findPendingInvitation(tx, code, nowMs, actor.appId);
    await tx.closeInvitation(invitation.id, 'declined', nowMs);
    await recordDecision(deps, tx, actor, 'invitation.decline', invitation);
    return app;
  });
}

export async function recordDecision(
  deps: Deps,
  tx: Transaction,
  actor: AuditActor,
  action: 'invitation.accept' | 'invitation.decline' | 'invitation.revoke',
  { id, appId, guestId, role, createdBy }: InvitationRecord,
): Promise<void> {
  const target = { id, name: null };
  if (role !== null) {
    await record(deps, tx, actor, { action, appId, target, details: { role, invitedBy: createdBy } });
    return;
  }
  const guest = guestId === null ? undefined : await tx.guest(guestId);
  await record(deps, tx, actor, { action, appId, target, guests: guest === undefined ? [] : [guest] });
}

/**
 * Creates an invitation. With `mailTo`, queues a mail with a link to that address.
 *
 * @param used how much of the quota `guests` is used; counted by default
 * @returns its id and its code. Only the hash of the code is stored
 * @throws DomainError `quota_exceeded`, `rate_limited`
 */
export async function insertInvitation(
  deps: Deps,
  tx: Transaction,
  { userId }: Actor,
  { email = null, name = null, mailTo, ...fields }: NewInvitation,
  used?: number,
): Promise<{ readonly id: InvitationId; readonly code: string; readonly expiresAtMs: number }> {
  const { clock, random, settings } = deps;
  const [id, code, createdAtMs] = [newId('invitation'), makeCode(random), clock()];
  const present = used ?? (await tx.countGuests(fields.appId, createdAtMs));
  await takeQuota(deps, tx, 'guests', fields.appId, present);
  const expiresAtMs = createdAtMs + settings.invitationLifetimeMs;
  await tx.insertInvitation({
    id,
    ...fields,
    codeHash: hashSecret(code),
    status: 'pending',
    email,
    name,
    createdBy: userId,
    createdAtMs,
    expiresAtMs,
    settledAtMs: null,
    signedUpUserId: null,
  });
  if (mailTo !== undefined) {
    await queueInvitationMail(deps, tx, userId, { recipient: mailTo, invitationId: id, appId: fields.appId });
  }
  return { id, code, expiresAtMs };
}

type NewInvitation = Pick<InvitationRecord, 'appId' | 'guestId' | 'role'> & {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly mailTo?: string | undefined;
};

/**
 * Revokes the pending invitations in an application that a user made, and may not make in the user's new role. Call it in the
 * transaction that changes the role.
 *
 * @param membership `role`: the user's new role; `undefined` if the user is removed from the team
 */
export async function revokeInvitationsOf(
  deps: Deps,
  tx: Transaction,
  actor: AuditActor,
  membership: { readonly appId: AppId; readonly userId: UserId; readonly role: MemberRole | undefined },
): Promise<void> {
  const { appId, userId, role } = membership;
  const pending = await tx.pendingInvitationsBy(userId, appId);
  const revoked = pending.filter((invitation) => !mayInvite(role, invitation));
  const ids = revoked.map(({ id }) => id);
  await tx.revokeInvitations(ids, deps.clock());
  const cause = 'inviter_lost_right';
  const entries = revoked.map(({ id, guestId, guestKey, role: invitedAs }) => {
    const entry = { action: 'invitation.revoke', appId, target: { id, name: null } } as const;
    return guestId === null || guestKey === null
      ? { ...entry, details: { cause, role: invitedAs, invitedBy: userId } }
      : { ...entry, details: { cause }, guests: [{ id: guestId, guestKey }] };
  });
  await recordAll(deps, tx, actor, entries);
}
