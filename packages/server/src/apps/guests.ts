import { type AppId, guestKeyFault, newId } from '@tenon/protocol';
import { changedFields, record } from '../audit/record.ts';
import { type Actor, type AppAccess, findGuest, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { naturalKey } from '../db/natural-key.ts';
import { cursorOfValues } from '../db/page-queries.ts';
import { type PageOf, readPage, readRelatedRows } from '../db/paging.ts';
import type { GuestRecord, GuestUserRecord, InvitationRecord } from '../db/records.ts';
import type {
  CreationSort,
  GuestInvitation,
  GuestSearch,
  GuestSort,
  InvitationSearch,
  Queries,
  SortedPage,
  Transaction,
} from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { invalidField, notFound, type Precondition, requirePrecondition } from '../http/domain-errors.ts';
import { finishRebind, retryAfterPendingRebind } from '../plugins/rebind.ts';
import { rebindForRing } from '../plugins/roll-outs/rings.ts';
import { type Delivery, insertInvitation, invitationRecipient } from './invitations.ts';

interface InvitationFields extends Delivery {
  readonly guestKey: string;
  readonly name?: string | undefined;
  /** Replace the texts of an existing guest. */
  readonly label?: string | undefined;
  readonly note?: string | undefined;
}

/** What the team notes about a guest. */
interface GuestFields {
  readonly label?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly ring?: string | null | undefined;
}

/**
 * Invites a user to an application under a guest key. Creates the guest if the key is new; otherwise the invitation is a further one
 * to the same guest.
 *
 * @returns the invitation's code, of which only the hash is stored
 * @throws DomainError `unsupported_delivery_method`, `invalid_field` for an invalid guest key, `quota_exceeded`
 */
export async function inviteGuest(
  deps: Deps,
  actor: Actor,
  access: AppAccess,
  fields: InvitationFields,
): Promise<string> {
  const mailTo = invitationRecipient(deps, fields);
  const fault = guestKeyFault(fields.guestKey);
  if (fault !== undefined) throw invalidField('/guestKey', `a guest key ${fault}`);

  const { guestKey, email, name } = fields;
  const appId = access.app.id;
  return deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const { label, note } = fields;
    const present = await tx.guestByKey(appId, guestKey);
    const guest =
      present === undefined
        ? await makeGuest(deps, tx, appId, { guestKey, label, note })
        : await changeGuestFields(deps, tx, actor, present, { label, note });
    const invitation = { appId, guestId: guest.id, role: null, email, name, mailTo };
    const invited = await insertInvitation(deps, tx, actor, invitation);
    await record(deps, tx, actor, {
      action: 'guest.invite',
      appId,
      target: { id: guest.id, name: null },
      details: { invitationId: invited.id },
      guests: [guest],
    });
    return invited.code;
  });
}

/** A user of a guest, with the user's name. */
type NamedGuestUser = GuestUserRecord & { readonly userName: string };

export interface GuestWithUsers {
  readonly guest: GuestRecord;
  readonly users: readonly NamedGuestUser[];
  readonly latestInvitation: InvitationRecord | undefined;
}

export async function listGuests(
  deps: Deps,
  access: AppAccess,
  page: SortedPage<GuestSort>,
  filter: Omit<GuestSearch, 'nowMs'>,
): Promise<PageOf<GuestWithUsers>> {
  const { read } = deps.store;
  const { app } = access;
  const search = { ...filter, nowMs: deps.clock() };
  const isByKey = page.sort?.endsWith('guestKey') === true;
  const cursorOf = ({ id, guestKey }: GuestRecord) => (isByKey ? cursorOfValues(naturalKey(guestKey), id) : id);
  const { items, rows, ...found } = await readRelatedRows(
    await readPage(
      page,
      cursorOf,
      (range) => read.guests(app.id, range, search),
      () => read.countGuestsFound(app.id, search),
    ),
    {
      cursorOf,
      keyOf: ({ id }) => id,
      keyOfRow: (user: NamedGuestUser) => user.guestId,
      load: (guests, limit) =>
        read.usersOfGuests(
          guests.map(({ id }) => id),
          limit,
        ),
    },
  );
  const latest = await latestInvitationsOf(read, items);
  const withUsers = (guest: GuestRecord): GuestWithUsers => {
    return { guest, users: sortByAcceptance(rows.get(guest.id)), latestInvitation: latest.get(guest.id) };
  };
  return { ...found, items: items.map(withUsers) };
}

async function latestInvitationsOf(read: Queries, guests: readonly GuestRecord[]) {
  const latest = await read.latestInvitations(guests.map(({ id }) => id));
  return new Map(latest.map((invitation) => [invitation.guestId, invitation]));
}

function sortByAcceptance(users: readonly NamedGuestUser[] = []): readonly NamedGuestUser[] {
  return users.toSorted((a, b) => a.acceptedAtMs - b.acceptedAtMs || (a.userId < b.userId ? -1 : 1));
}

/** @throws DomainError `not_found` */
export async function readGuest(deps: Deps, access: AppAccess, guestId: string): Promise<GuestWithUsers> {
  const { read } = deps.store;
  return readGuestWithUsers(read, await findGuest(read, access, guestId));
}

async function readGuestWithUsers(read: Queries, guest: GuestRecord): Promise<GuestWithUsers> {
  const users = sortByAcceptance(await read.usersOfGuests([guest.id]));
  return { guest, users, latestInvitation: (await latestInvitationsOf(read, [guest])).get(guest.id) };
}

/**
 * Changes a guest's label, note and ring. Absent fields keep their values. A guest with another ring gets the versions whose roll-outs reach it.
 *
 * @throws DomainError `not_found`, `precondition_failed`
 */
export async function updateGuest(
  deps: Deps,
  access: AppAccess,
  guestId: string,
  fields: GuestFields,
  precondition?: Precondition<GuestWithUsers>,
): Promise<GuestWithUsers> {
  const write = async (tx: Transaction) => {
    await renewAccess(tx, access, 'changeGuests');
    const present = await readGuestWithUsers(tx, await findGuest(tx, access, guestId));
    requirePrecondition(precondition, present);
    const guest = await changeGuestFields(deps, tx, access.actor, present.guest, fields);
    const pending = guest.ring === present.guest.ring ? [] : await rebindForRing(deps, tx, guest);
    return { changed: { ...present, guest }, pending };
  };
  const { changed, pending } = await retryAfterPendingRebind(deps, () => deps.store.write(write));
  for (const key of pending) await finishRebind(deps, key);
  return changed;
}

/** Creates a guest. An audit event of the caller's must name it. */
export async function makeGuest(
  { clock }: Pick<Deps, 'clock'>,
  tx: Transaction,
  appId: AppId,
  { guestKey, label = null, note = null, ring = null }: GuestFields & Pick<GuestRecord, 'guestKey'>,
): Promise<GuestRecord> {
  const guest = { id: newId('guest'), appId, guestKey, label, note, ring, createdAtMs: clock() };
  await tx.insertGuest(guest);
  return guest;
}

/** Stores the fields that differ from the stored ones. The audit event names the fields only: labels and notes may name people. */
export async function changeGuestFields(
  deps: Deps,
  tx: Transaction,
  actor: Actor,
  guest: GuestRecord,
  { label = guest.label, note = guest.note, ring = guest.ring }: GuestFields,
): Promise<GuestRecord> {
  const changed = { ...guest, label, note, ring };
  const fields = Object.keys(changedFields(guest, changed, ['label', 'note', 'ring']));
  if (fields.length === 0) return guest;
  await tx.updateGuest(guest.id, { label, note, ring });
  const target = { id: guest.id, name: null };
  await record(deps, tx, actor, {
    action: 'guest.update',
    appId: guest.appId,
    target,
    details: { fields },
    guests: [guest],
  });
  return changed;
}

/**
 * Removes a guest from an application, with its invitations and bindings.
 *
 * @throws DomainError `not_found`, `step_up_required`
 */
export async function removeGuest(deps: Deps, access: AppAccess, guestId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const guest = await findGuest(tx, access, guestId);
    await requireStepUp(deps, access.actor.sessionId, tx);
    await tx.noteDeletedBindings(guest, deps.clock());
    await tx.deleteGuest(guest.id);
    const target = { id: guest.id, name: null };
    await record(deps, tx, access.actor, { action: 'guest.remove', appId: guest.appId, target, guests: [guest] });
  });
}

/**
 * Removes a user from a guest, with the user's bindings under the guest.
 *
 * @throws DomainError `not_found`
 */
export async function removeGuestUser(deps: Deps, access: AppAccess, guestId: string, userId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const guest = await findGuest(tx, access, guestId);
    const users = await tx.usersOfGuests([guest.id]);
    const guestUser = users.find((user) => user.userId === userId);
    if (guestUser === undefined) throw notFound('user of the guest');
    await tx.noteDeletedBindings(guest, deps.clock());
    await tx.deleteGuestUser([guest.id], guestUser.userId);
    await record(deps, tx, access.actor, {
      action: 'guest.remove_user',
      appId: guest.appId,
      target: { id: guestUser.userId, name: guestUser.userName },
      guests: [guest],
    });
  });
}

/** Lists the invitations of guests. */
export function listInvitations(
  deps: Deps,
  access: AppAccess,
  page: SortedPage<CreationSort>,
  search: InvitationSearch,
): Promise<PageOf<GuestInvitation>> {
  const { read } = deps.store;
  return readPage(
    page,
    ({ id }) => id,
    (range) => read.invitations(access.app.id, range, search),
    () => read.countInvitationsFound(access.app.id, search),
  );
}
