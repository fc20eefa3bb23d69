import { type AppId, isId, type MemberRole } from '@tenon/protocol';
import { type AuditActor, record, recordAll } from '../audit/record.ts';
import { type Actor, type AppAccess, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { type PageOf, readLimited, readPage, readPageById } from '../db/paging.ts';
import type { HeldGuest, MemberRecord } from '../db/records.ts';
import type { CreationSort, MemberSort, Queries, SortedPage, TeamInvitation, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { memberCursor } from './app-queries.ts';
import { type Delivery, insertInvitation, invitationRecipient, revokeInvitationsOf } from './invitations.ts';

/** The maximum number of guests listed with a member. */
const maxListedGuests = 20;

/** A member with the user's name and guests. */
export type NamedMember = MemberRecord & {
  readonly userName: string;
  /** The first guests that the user holds in the same application. */
  readonly guests: readonly HeldGuest[];
  /** Whether the user holds more guests than these. */
  readonly hasMoreGuests: boolean;
};

export async function listMembers(
  deps: Deps,
  access: AppAccess,
  page: SortedPage<MemberSort>,
  text?: string,
): Promise<PageOf<NamedMember>> {
  const { read } = deps.store;
  const found = await readPage(
    page,
    (member: Omit<NamedMember, 'guests' | 'hasMoreGuests'>) => memberCursor(member, page.sort),
    (range) => read.members(access.app.id, range, text),
    () => read.countMembersFound(access.app.id, text),
  );
  const items = found.items.map(async (member) => ({
    ...member,
    ...(await firstGuestsOf(read, member)),
  }));
  return { ...found, items: await Promise.all(items) };
}

async function firstGuestsOf(
  read: Queries,
  { userId, appId }: MemberRecord,
): Promise<Pick<NamedMember, 'guests' | 'hasMoreGuests'>> {
  const held = await readLimited((limit) => read.guestsHeldIn(userId, [appId], limit), maxListedGuests);
  return { guests: held.rows, hasMoreGuests: held.hasMore };
}

interface TeamInvitationFields extends Delivery {
  readonly role: MemberRole;
  readonly name?: string | undefined;
}

/**
 * Invites a user to an application's team. The user becomes a member by accepting.
 *
 * @returns the invitation's code. Only its hash is stored
 * @throws DomainError `step_up_required`, `unsupported_delivery_method`, `invalid_field`
 */
export async function inviteMember(
  deps: Deps,
  actor: Actor,
  access: AppAccess,
  invited: TeamInvitationFields,
): Promise<string> {
  const { app } = access;
  const { role, email, name } = invited;
  const mailTo = invitationRecipient(deps, invited);
  return deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeMembers');
    await requireStepUp(deps, actor.sessionId, tx);
    const fields = { appId: app.id, guestId: null, role, email, name, mailTo };
    const { id, code } = await insertInvitation(deps, tx, actor, fields);
    const target = { id, name: null };
    await record(deps, tx, actor, { action: 'member.invite', appId: app.id, target, details: { role } });
    return code;
  });
}

export function listTeamInvitations(
  deps: Deps,
  access: AppAccess,
  page: SortedPage<CreationSort>,
  isSettled?: boolean,
): Promise<PageOf<TeamInvitation>> {
  return readPageById(page, (range) => deps.store.read.teamInvitations(access.app.id, range, isSettled));
}

/**
 * Changes a member's role. Revokes the member's pending invitations that the new role may not make.
 *
 * @throws DomainError `not_found` for a user who is not a member, `conflict` if the last owner would lose the role,
 *   `step_up_required`
 */
export async function changeMemberRole(
  deps: Deps,
  access: AppAccess,
  userId: string,
  role: MemberRole,
): Promise<NamedMember> {
  const appId = access.app.id;
  return deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeMembers');
    await requireStepUp(deps, access.actor.sessionId, tx);
    const present = await requireMember(tx, appId, userId);
    const user = await tx.user(present.userId);
    if (user === undefined) throw notFound('member');
    if (present.role === 'owner' && role !== 'owner') await requireAnotherOwner(tx, appId);
    await tx.putMember({ ...present, role });
    const details = { role: { before: present.role, after: role } };
    await record(deps, tx, access.actor, { action: 'member.put', appId, target: user, details });
    await revokeInvitationsOf(deps, tx, access.actor, { appId, userId: user.id, role });
    return { ...present, role, userName: user.name, ...(await firstGuestsOf(tx, present)) };
  });
}

/**
 * Removes a member from an application's team. Revokes the member's pending invitations.
 *
 * @param withGuests whether the user is also removed from the guests that the user holds in the application
 * @throws DomainError `not_found` for a user who is not a member, `conflict` for the last owner, `step_up_required`
 */
export async function removeMember(deps: Deps, access: AppAccess, userId: string, withGuests: boolean): Promise<void> {
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeMembers');
    await requireStepUp(deps, access.actor.sessionId, tx);
    const member = await requireMember(tx, access.app.id, userId);
    await deleteMembership(deps, tx, access.actor, member, 'member.remove');
    if (withGuests) await removeGuestsHeldBy(deps, tx, access.actor, member);
  });
}

/**
 * Ends the actor's own membership.
 *
 * @throws DomainError `conflict` for the last owner, `step_up_required`
 */
export async function leaveTeam(deps: Deps, access: AppAccess): Promise<void> {
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'leaveTeam');
    await requireStepUp(deps, access.actor.sessionId, tx);
    const member = await requireMember(tx, access.app.id, access.actor.userId);
    await deleteMembership(deps, tx, access.actor, member, 'member.leave');
  });
}

async function deleteMembership(
  deps: Deps,
  tx: Transaction,
  actor: AuditActor,
  { appId, userId, role }: MemberRecord,
  action: 'member.remove' | 'member.leave',
): Promise<void> {
  if (role === 'owner') await requireAnotherOwner(tx, appId);
  await tx.deleteMember(appId, userId);
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  await record(deps, tx, actor, { action, appId, target, details: { role } });
  await revokeInvitationsOf(deps, tx, actor, { appId, userId, role: undefined });
}

async function removeGuestsHeldBy(
  deps: Deps,
  tx: Transaction,
  actor: AuditActor,
  { appId, userId }: MemberRecord,
): Promise<void> {
  const guests = await tx.guestsHeldBy(userId, appId);
  const ids = guests.map(({ id }) => id);
  await tx.noteDeletedBindings({ appId }, deps.clock());
  await tx.deleteGuestUser(ids, userId);
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  const entries = guests.map((guest) => ({ action: 'guest.remove_user', appId, target, guests: [guest] }) as const);
  await recordAll(deps, tx, actor, entries);
}

/** @throws DomainError `not_found` for an unknown user, and for a user who is not a member */
async function requireMember(tx: Transaction, appId: AppId, userId: string): Promise<MemberRecord> {
  const member = isId('user', userId) ? await tx.member(appId, userId) : undefined;
  if (member === undefined) throw notFound('member');
  return member;
}

async function requireAnotherOwner(tx: Transaction, appId: AppId): Promise<void> {
  if ((await tx.countOwners(appId)) > 1) return;
  throw new DomainError('conflict', 'An application needs at least one owner. Make another member an owner first.');
}
