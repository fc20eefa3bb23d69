import type { NotNull } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { inChunks, paged } from './paging.ts';

export function invitationQueries(
  db: Db,
): Pick<Queries, 'invitation' | 'invitationByCodeHash' | 'invitations' | 'teamInvitations' | 'pendingInvitationsBy'> {
  return {
    invitation: (id) =>
      db.selectFrom('invitations').select(columns.invitations).where('id', '=', id).executeTakeFirst(),
    invitationByCodeHash: (codeHash) =>
      db.selectFrom('invitations').select(columns.invitations).where('codeHash', '=', codeHash).executeTakeFirst(),
    invitations(appId, page) {
      const invitations = db
        .selectFrom('invitations')
        .innerJoin('guests', 'guests.id', 'invitations.guestId')
        .select(columns.invitations)
        .select('guests.guestKey')
        .where('invitations.appId', '=', appId)
        .$narrowType<{ guestId: NotNull }>();
      return paged(invitations, 'invitations.id', page).execute();
    },
    teamInvitations(appId, page) {
      const invitations = db
        .selectFrom('invitations')
        .innerJoin('users', 'users.id', 'invitations.createdBy')
        .select(columns.invitations)
        .select('users.name as inviterName')
        .where('invitations.appId', '=', appId)
        .where('invitations.role', 'is not', null)
        .$narrowType<{ role: NotNull }>();
      return paged(invitations, 'invitations.id', page).execute();
    },
    pendingInvitationsBy: (userId, appId) =>
      db
        .selectFrom('invitations')
        .leftJoin('guests', 'guests.id', 'invitations.guestId')
        .select(columns.invitations)
        .select('guests.guestKey')
        .where('invitations.createdBy', '=', userId)
        .where('invitations.appId', '=', appId)
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
      await db.insertInto('invitations').values(invitation).execute();
    },
    async settleInvitation(id, status, settledAtMs) {
      await db
        .updateTable('invitations')
        .set({ status, settledAtMs })
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .execute();
    },
    async revokeInvitations(ids, settledAtMs) {
      await inChunks(ids, async (chunk) => {
        await db
          .updateTable('invitations')
          .set({ status: 'revoked', settledAtMs })
          .where('id', 'in', chunk)
          .where('status', '=', 'pending')
          .execute();
        return [];
      });
    },
    async noteInvitationSignUp(id, userId) {
      await db.updateTable('invitations').set({ signedUpUserId: userId }).where('id', '=', id).execute();
    },
  };
}
