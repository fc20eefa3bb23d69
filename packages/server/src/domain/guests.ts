import { guestKeyFault, isId, newId } from '@tenon/protocol';
import { type Actor, type AppAccess, renewAccess } from './access.ts';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, invalidField, notFound } from './errors.ts';
import { type PageOf, paged } from './paging.ts';
import type { Page } from './ports.ts';
import type { GuestRecord, GuestUserRecord, InvitationRecord } from './records.ts';
import { hashSecret, makeCode } from './secrets.ts';

/** How invitations can reach people. */
export const deliveryMethods = ['link'] as const;

export interface InvitationFields {
  readonly guestKey: string;
  readonly deliveryMethod: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Invites somebody to an application under a guest key. Inviting again under the same key makes a further invitation to the
 * same guest.
 *
 * @returns the invitation's code, which is kept nowhere
 * @throws DomainError `unsupported_delivery_method`, or `invalid_field` for a guest key that can't be one
 */
export async function inviteGuest(
  context: Context,
  actor: Actor,
  access: AppAccess,
  fields: InvitationFields,
): Promise<string> {
  if (!deliveryMethods.some((method) => method === fields.deliveryMethod)) {
    const detail = `is not supported; supported: ${deliveryMethods.map((method) => `"${method}"`).join(', ')}`;
    throw new DomainError('unsupported_delivery_method', `The delivery method ${detail}.`, {
      errors: [{ pointer: '/deliveryMethod', detail }],
    });
  }
  const fault = guestKeyFault(fields.guestKey);
  if (fault !== undefined) throw invalidField('/guestKey', `a guest key ${fault}`);

  const code = makeCode(context.random);
  const createdAtMs = context.clock();
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    let guest = await tx.guestByKey(access.app.id, fields.guestKey);
    if (guest === undefined) {
      guest = { id: newId('guest'), appId: access.app.id, guestKey: fields.guestKey, createdAtMs };
      await tx.insertGuest(guest);
    }
    const invitationId = newId('invitation');
    await tx.insertInvitation({
      id: invitationId,
      appId: access.app.id,
      guestId: guest.id,
      codeHash: hashSecret(code),
      status: 'pending',
      email: fields.email ?? null,
      name: fields.name ?? null,
      createdBy: actor.userId,
      createdAtMs,
      expiresAtMs: createdAtMs + context.limits.invitationLifetimeMs,
      settledAtMs: null,
      signedUpUserId: null,
    });
    await record(context, tx, actor, {
      action: 'guest.invite',
      appId: access.app.id,
      target: { id: guest.id, name: null },
      details: { invitationId },
      guests: [guest],
    });
  });
  return code;
}

/** A user who holds a guest, with the user's name. */
export type NamedGuestUser = GuestUserRecord & { readonly userName: string };

/** A guest with the users who hold it. */
export interface GuestWithUsers {
  readonly guest: GuestRecord;
  readonly users: readonly NamedGuestUser[];
}

export async function listGuests(context: Context, access: AppAccess, page: Page): Promise<PageOf<GuestWithUsers>> {
  const found = await paged(
    page,
    (guest: GuestRecord) => guest.id,
    (stretch) => context.store.read.guests(access.app.id, stretch),
  );
  return { items: await withUsers(context, found.items), next: found.next };
}

/** @throws DomainError `not_found` */
export async function readGuest(context: Context, access: AppAccess, guestId: string): Promise<GuestWithUsers> {
  const guest = isId('guest', guestId) ? await context.store.read.guest(guestId) : undefined;
  if (guest?.appId !== access.app.id) throw notFound('guest');
  return { guest, users: await context.store.read.usersOfGuests([guest.id]) };
}

async function withUsers(context: Context, guests: readonly GuestRecord[]): Promise<GuestWithUsers[]> {
  const users = await context.store.read.usersOfGuests(guests.map((guest) => guest.id));
  const byGuest = Map.groupBy(users, (user) => user.guestId);
  return guests.map((guest) => ({ guest, users: byGuest.get(guest.id) ?? [] }));
}

/**
 * Removes a guest from an application: its invitations stop working, its bindings go at once.
 *
 * @throws DomainError `not_found`
 */
export async function removeGuest(context: Context, access: AppAccess, guestId: string): Promise<void> {
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const guest = isId('guest', guestId) ? await tx.guest(guestId) : undefined;
    if (guest?.appId !== access.app.id) throw notFound('guest');
    await tx.deleteGuest(guest.id);
    const target = { id: guest.id, name: null };
    await record(context, tx, access.actor, { action: 'guest.remove', appId: guest.appId, target, guests: [guest] });
  });
}

/**
 * Takes a guest from one of its users, whose bindings under it go at once.
 *
 * @throws DomainError `not_found`
 */
export async function removeGuestUser(
  context: Context,
  access: AppAccess,
  guestId: string,
  userId: string,
): Promise<void> {
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const guest = isId('guest', guestId) ? await tx.guest(guestId) : undefined;
    if (guest?.appId !== access.app.id) throw notFound('guest');
    const users = await tx.usersOfGuests([guest.id]);
    const held = users.find((user) => user.userId === userId);
    if (held === undefined) throw notFound('user of the guest');
    await tx.deleteGuestUser(guest.id, held.userId);
    await record(context, tx, access.actor, {
      action: 'guest.remove_user',
      appId: guest.appId,
      target: { id: held.userId, name: held.userName },
      guests: [guest],
    });
  });
}

/** An invitation with the guest key that it assigns. */
export type InvitationWithKey = InvitationRecord & { readonly guestKey: string };

export function listInvitations(context: Context, access: AppAccess, page: Page): Promise<PageOf<InvitationWithKey>> {
  return paged(
    page,
    (invitation: InvitationWithKey) => invitation.id,
    (stretch) => context.store.read.invitations(access.app.id, stretch),
  );
}
