import type { NotNull } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { inChunks, paged } from './paging.ts';
import type { Db } from './schema.ts';

const columns = [
  'invitations.id',
  'invitations.app_id as appId',
  'invitations.guest_id as guestId',
  'invitations.role',
  'invitations.code_hash as codeHash',
  'invitations.status',
  'invitations.email',
  'invitations.name',
  'invitations.created_by as createdBy',
  'invitations.created_at_ms as createdAtMs',
  'invitations.expires_at_ms as expiresAtMs',
  'invitations.settled_at_ms as settledAtMs',
  'invitations.signed_up_user_id as signedUpUserId',
] as const;

export function invitationQueries(
  db: Db,
): Pick<Queries, 'invitation' | 'invitationByCodeHash' | 'invitations' | 'teamInvitations' | 'pendingInvitationsBy'> {
  return {
    invitation: (id) => db.selectFrom('invitations').select(columns).where('id', '=', id).executeTakeFirst(),
    invitationByCodeHash: (codeHash) =>
      db.selectFrom('invitations').select(columns).where('code_hash', '=', codeHash).executeTakeFirst(),
    invitations(appId, page) {
      const invitations = db
        .selectFrom('invitations')
        .innerJoin('guests', 'guests.id', 'invitations.guest_id')
        .select(columns)
        .select('guests.guest_key as guestKey')
        .where('invitations.app_id', '=', appId)
        .$narrowType<{ guestId: NotNull }>();
      return paged(invitations, 'invitations.id', page).execute();
    },
    teamInvitations(appId, page) {
      const invitations = db
        .selectFrom('invitations')
        .innerJoin('users', 'users.id', 'invitations.created_by')
        .select(columns)
        .select('users.name as inviterName')
        .where('invitations.app_id', '=', appId)
        .where('invitations.role', 'is not', null)
        .$narrowType<{ role: NotNull }>();
      return paged(invitations, 'invitations.id', page).execute();
    },
    pendingInvitationsBy: (userId, appId) =>
      db
        .selectFrom('invitations')
        .leftJoin('guests', 'guests.id', 'invitations.guest_id')
        .select(columns)
        .select('guests.guest_key as guestKey')
        .where('invitations.created_by', '=', userId)
        .where('invitations.app_id', '=', appId)
        .where('invitations.status', '=', 'pending')
        .orderBy('invitations.id')
        .execute(),
  };
}

export function invitationMutations(
  db: Db,
): Pick<Mutations, 'insertInvitation' | 'settleInvitation' | 'revokeInvitations' | 'noteInvitationSignUp'> {
  return {
    async insertInvitation(invitation) {
      await db
        .insertInto('invitations')
        .values({
          id: invitation.id,
          app_id: invitation.appId,
          guest_id: invitation.guestId,
          role: invitation.role,
          code_hash: invitation.codeHash,
          status: invitation.status,
          email: invitation.email,
          name: invitation.name,
          created_by: invitation.createdBy,
          created_at_ms: invitation.createdAtMs,
          expires_at_ms: invitation.expiresAtMs,
          settled_at_ms: invitation.settledAtMs,
          signed_up_user_id: invitation.signedUpUserId,
        })
        .execute();
    },
    async settleInvitation(id, status, settledAtMs) {
      await db
        .updateTable('invitations')
        .set({ status, settled_at_ms: settledAtMs })
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .execute();
    },
    async revokeInvitations(ids, settledAtMs) {
      await inChunks(ids, async (chunk) => {
        await db
          .updateTable('invitations')
          .set({ status: 'revoked', settled_at_ms: settledAtMs })
          .where('id', 'in', chunk)
          .where('status', '=', 'pending')
          .execute();
        return [];
      });
    },
    async noteInvitationSignUp(id, userId) {
      await db.updateTable('invitations').set({ signed_up_user_id: userId }).where('id', '=', id).execute();
    },
  };
}
