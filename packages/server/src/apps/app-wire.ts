import type { App, Guest, Invitation, Member, MemberInvitation } from '@tenon/protocol';
import type { AppAccess } from '../auth/access.ts';
import { invitationStatus } from '../auth/find-invitation.ts';
import type { InvitationRecord } from '../db/records.ts';
import type { GuestInvitation, TeamInvitation } from '../db/store.ts';
import { time, timeOrNull } from '../http/wire-time.ts';
import type { GuestWithUsers } from './guests.ts';
import type { NamedMember } from './members.ts';

export function toApp({ app, role, guests, hasMoreGuests }: AppAccess, maxGuests = guests.length): App {
  return {
    id: app.id,
    name: app.name,
    requiresPasskey: app.requiresPasskey,
    role,
    guests: guests.slice(0, maxGuests).map(({ id, label }) => ({ id, label })),
    hasMoreGuests: hasMoreGuests || guests.length > maxGuests,
    createdAt: time(app.createdAtMs),
    updatedAt: time(app.updatedAtMs),
  };
}

export function toMember(member: NamedMember): Member {
  const { userId, userName, role, guests, hasMoreGuests, createdAtMs } = member;
  const guestIds = guests.map(({ id }) => id);
  return { userId, name: userName, role, guestIds, hasMoreGuests, createdAt: time(createdAtMs) };
}

export function toGuest({ guest, users, latestInvitation }: GuestWithUsers, nowMs: number): Guest {
  return {
    id: guest.id,
    guestKey: guest.guestKey,
    label: guest.label,
    note: guest.note,
    ring: guest.ring,
    users: users.map(({ userId, userName, acceptedAtMs }) => ({
      userId,
      name: userName,
      acceptedAt: time(acceptedAtMs),
    })),
    latestInvitation: latestInvitation === undefined ? null : toInvitationFields(latestInvitation, nowMs),
    createdAt: time(guest.createdAtMs),
  };
}

export function toInvitation(invitation: GuestInvitation, nowMs: number): Invitation {
  const { guestId, guestKey, guestLabel } = invitation;
  return { ...toInvitationFields(invitation, nowMs), guestId, guestKey, guestLabel };
}

export function toMemberInvitation(invitation: TeamInvitation, nowMs: number): MemberInvitation {
  const { role, createdBy, inviterName } = invitation;
  const invitedBy = { userId: createdBy, name: inviterName };
  return { ...toInvitationFields(invitation, nowMs), role, invitedBy };
}

function toInvitationFields(invitation: InvitationRecord, nowMs: number) {
  const { id, email, name, createdAtMs, expiresAtMs, settledAtMs } = invitation;
  return {
    id,
    status: invitationStatus(invitation, nowMs),
    email,
    name,
    createdAt: time(createdAtMs),
    expiresAt: time(expiresAtMs),
    settledAt: timeOrNull(settledAtMs),
  };
}
