import type { AppId, GuestId, InvitationId, UserId } from '@tenon/protocol';
import { type NotNull, sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { contains, countMatches, type Orders, setOf, sorted } from '../db/page-queries.ts';
import type { CreationSort, GuestInvitation, InvitationSearch, SortedPage, TeamInvitation } from '../db/query-types.ts';
import { columns, type InvitationRecord, type StoredInvitationStatus } from '../db/records.ts';

const orders: Orders<CreationSort> = { createdAt: [sql.ref('invitations.id')] };

function invitationsFound(db: Db, appId: AppId, search: InvitationSearch) {
  const { guestId, ids, status, createdBeforeMs, text, nowMs } = search;
  let invitations = db
    .selectFrom('invitations')
    .innerJoin('guests', 'guests.id', 'invitations.guestId')
    .select(columns.invitations)
    .select(['guests.guestKey', 'guests.label as guestLabel'])
    .where('invitations.appId', '=', appId)
    .$narrowType<{ guestId: NotNull }>();
  if (guestId !== undefined) invitations = invitations.where('invitations.guestId', '=', guestId as GuestId);
  if (ids !== undefined) invitations = invitations.where('invitations.id', 'in', setOf(ids));
  if (status !== undefined) {
    invitations = invitations.where('invitations.status', '=', status === 'expired' ? 'pending' : status);
  }
  if (status === 'pending') invitations = invitations.where('invitations.expiresAtMs', '>', nowMs);
  if (status === 'expired') invitations = invitations.where('invitations.expiresAtMs', '<=', nowMs);
  if (createdBeforeMs !== undefined) {
    invitations = invitations.where('invitations.createdAtMs', '<=', createdBeforeMs);
  }
  if (text === undefined) return invitations;
  const searched = ['guests.guestKey', 'guests.label', 'invitations.name', 'invitations.email'];
  return invitations.where(({ or }) => or(searched.map((column) => contains(column, text))));
}

/** Finds all invitations of guests. */
const everything: InvitationSearch = { nowMs: 0 };

export const invitationQueries = {
  invitation: (db: Db, id: InvitationId): Promise<InvitationRecord | undefined> =>
    db.selectFrom('invitations').select(columns.invitations).where('id', '=', id).executeTakeFirst(),

  /** By the code of its link, or by a code that was mailed. */
  invitationByCodeHash: (db: Db, codeHash: string): Promise<InvitationRecord | undefined> =>
    db
      .selectFrom('invitations')
      .select(columns.invitations)
      .where(({ eb, or, selectFrom }) =>
        or([
          eb('codeHash', '=', codeHash),
          eb(
            'id',
            '=',
            selectFrom('mailed_codes').select('invitationId').where('mailed_codes.codeHash', '=', codeHash),
          ),
        ]),
      )
      .executeTakeFirst(),

  /** The invitations of guests, with the guests' keys and labels. */
  invitations: (
    db: Db,
    appId: AppId,
    page: SortedPage<CreationSort>,
    search: InvitationSearch = everything,
  ): Promise<GuestInvitation[]> => sorted(invitationsFound(db, appId, search), orders, page, 'createdAt').execute(),

  countInvitationsFound: (db: Db, appId: AppId, search: InvitationSearch): Promise<number> =>
    countMatches(db, invitationsFound(db, appId, search)),

  /** The newest invitation of a person to a guest that is pending or was accepted: by the address, or without one by the name. */
  latestInvitationOf(
    db: Db,
    guestId: GuestId,
    { email, name }: Pick<InvitationRecord, 'email' | 'name'>,
  ): Promise<InvitationRecord | undefined> {
    let invitations = db
      .selectFrom('invitations')
      .select(columns.invitations)
      .where('guestId', '=', guestId)
      .where('status', 'in', ['pending', 'accepted']);
    if (email !== null) invitations = invitations.where('email', '=', email);
    else invitations = invitations.where('email', 'is', null).where('name', name === null ? 'is' : '=', name);
    return invitations.orderBy('id', 'desc').limit(1).executeTakeFirst();
  },

  /**
   * The invitations to the team, with the names of the users who made them. `isSettled` selects those that were answered or revoked, or
   * the pending and expired ones.
   */
  teamInvitations(
    db: Db,
    appId: AppId,
    page: SortedPage<CreationSort>,
    isSettled?: boolean,
  ): Promise<TeamInvitation[]> {
    let invitations = db
      .selectFrom('invitations')
      .innerJoin('users', 'users.id', 'invitations.createdBy')
      .select(columns.invitations)
      .select('users.name as inviterName')
      .where('invitations.appId', '=', appId)
      .where('invitations.role', 'is not', null)
      .$narrowType<{ role: NotNull }>();
    if (isSettled !== undefined)
      invitations = invitations.where('invitations.status', isSettled ? '!=' : '=', 'pending');
    return sorted(invitations, orders, page, 'createdAt').execute();
  },

  /** The pending invitations that a user made in an application, by id. Invitations of guests have their guest keys. */
  pendingInvitationsBy: (db: Db, userId: UserId, appId: AppId) =>
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

export const invitationMutations = {
  insertInvitation: statement({ audit: true, invalidates: nothing }, (db: Db, invitation: InvitationRecord) =>
    db.insertInto('invitations').values(invitation),
  ),

  /** Gives a pending invitation another code, which ends the ones before, and another user who answers for it. */
  renewInvitation: mutation(
    { audit: true, invalidates: nothing },
    async (
      db: Db,
      id: InvitationId,
      fields: Pick<InvitationRecord, 'codeHash' | 'expiresAtMs' | 'createdBy'>,
    ): Promise<void> => {
      await db.deleteFrom('mailed_codes').where('invitationId', '=', id).execute();
      await db.updateTable('invitations').set(fields).where('id', '=', id).where('status', '=', 'pending').execute();
    },
  ),

  /** Sets the final status of an invitation, if it is pending. */
  closeInvitation: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: InvitationId, status: Exclude<StoredInvitationStatus, 'pending'>, settledAtMs: number) =>
      db.updateTable('invitations').set({ status, settledAtMs }).where('id', '=', id).where('status', '=', 'pending'),
  ),

  /** Revokes those of the invitations that are pending. */
  revokeInvitations: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, ids: readonly InvitationId[], settledAtMs: number) =>
      db
        .updateTable('invitations')
        .set({ status: 'revoked', settledAtMs })
        .where('id', 'in', setOf(ids))
        .where('status', '=', 'pending'),
  ),

  /** Stores that a user signed up with an invitation. */
  setInvitationSignUp: statement({ audit: true, invalidates: nothing }, (db: Db, id: InvitationId, userId: UserId) =>
    db.updateTable('invitations').set({ signedUpUserId: userId }).where('id', '=', id),
  ),
};
