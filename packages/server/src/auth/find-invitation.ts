import type { AppId, InvitationStatus, MemberRole } from '@tenon/protocol';
import type { AppRecord, InvitationRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { permissions } from './access.ts';
import { hashSecret } from './secrets.ts';

export function invitationStatus(invitation: InvitationRecord, nowMs: number): InvitationStatus {
  return invitation.status === 'pending' && invitation.expiresAtMs <= nowMs ? 'expired' : invitation.status;
}

/** @throws DomainError `not_found` for an unknown code */
export function findByCode(queries: Queries, code: string): Promise<InvitationRecord> {
  return findByCodeHash(queries, hashSecret(code));
}

async function findByCodeHash(queries: Queries, codeHash: string): Promise<InvitationRecord> {
  const invitation = await queries.invitationByCodeHash(codeHash);
  if (invitation === undefined) throw notFound('invitation');
  return invitation;
}

/**
 * Finds a pending invitation by its code, with its application.
 *
 * @param onlyAppId finds only invitations of this application, to which the actor's token is restricted
 * @throws DomainError `not_found`, `invitation_used`, `invitation_expired`, `invitation_revoked`
 */
export function findPendingInvitation(
  queries: Queries,
  code: string,
  nowMs: number,
  onlyAppId: AppId | null = null,
): Promise<PendingInvitation> {
  return findPendingByHash(queries, hashSecret(code), nowMs, onlyAppId);
}

interface PendingInvitation {
  readonly invitation: InvitationRecord;
  readonly app: AppRecord;
}

/** As {@link findPendingInvitation}, by the hash of the code. */
export async function findPendingByHash(
  queries: Queries,
  codeHash: string,
  nowMs: number,
  onlyAppId: AppId | null = null,
): Promise<PendingInvitation> {
  const invitation = await findByCodeHash(queries, codeHash);
  const app = await queries.app(invitation.appId);
  if (app === undefined || (onlyAppId !== null && onlyAppId !== app.id)) throw notFound('invitation');
  switch (invitationStatus(invitation, nowMs)) {
    case 'accepted':
    case 'declined':
      throw new DomainError('invitation_used', 'The invitation has been used. Ask for another one.');
    case 'expired':
      throw new DomainError('invitation_expired', 'The invitation has expired. Ask for another one.');
    case 'revoked':
      throw new DomainError('invitation_revoked', 'The invitation has been revoked. Ask for another one.');
    case 'pending':
      await requireInviterPermission(queries, invitation);
      return { invitation, app };
  }
}

/** @throws DomainError `invitation_revoked` if the user who made it has lost the right to invite */
async function requireInviterPermission(queries: Queries, invitation: InvitationRecord): Promise<void> {
  const inviter = await queries.member(invitation.appId, invitation.createdBy);
  if (mayInvite(inviter?.role, invitation)) return;
  throw new DomainError(
    'invitation_revoked',
    'The member who made the invitation lost the right to invite. Ask for another one.',
  );
}

/** @param role the inviter's role; `undefined` if the inviter is not a member */
export function mayInvite(role: MemberRole | undefined, invitation: Pick<InvitationRecord, 'role'>): boolean {
  const { roles }: { readonly roles: readonly MemberRole[] } = permissions[invitePermission(invitation)];
  return role !== undefined && roles.includes(role);
}

/** Returns the permission that is required to make an invitation. */
export function invitePermission({ role }: Pick<InvitationRecord, 'role'>): 'changeGuests' | 'changeMembers' {
  return role === null ? 'changeGuests' : 'changeMembers';
}
