import type { Static } from 'typebox';
import { displayName, id, nullable, oneOf, timestamp } from './fields.ts';
import { maxInvitationsAtOnce } from './list-limits.ts';
import { displayNamePattern, invitationTextLengths } from './names.ts';
import { guestRing } from './roll-out.ts';
import { Type } from './type.ts';

/* Guests, and the invitations to become one, or to join the team. */

export const memberRole = oneOf(['owner', 'admin', 'viewer']);
export type MemberRole = Static<typeof memberRole>;

// Without an enumeration, because a value that isn't supported has an error code.
const deliveryMethod = Type.Optional(
  Type.String({
    default: 'link',
    description:
      '`link`: you pass the link on. `email`: the server also mails a link to `email`, if it is set up to send mail',
  }),
);

/** An invitation to the team. `name`, and `email` if nothing is mailed, are notes for the team itself. */
export const memberInvitationInput = Type.Object({
  deliveryMethod,
  role: memberRole,
  email: Type.Optional(Type.String({ maxLength: invitationTextLengths.email })),
  name: Type.Optional(Type.String({ maxLength: invitationTextLengths.name })),
});

const guestLabel = displayName('distinguishes the guest from others; shown to the users who hold it');

const guestNote = Type.String({
  minLength: 1,
  maxLength: invitationTextLengths.note,
  pattern: displayNamePattern,
  description: "for the application's team; guests never see it",
});

/** An invitation of a guest. */
export const invitationRow = Type.Object({
  guestKey: Type.String({ minLength: 1, description: 'the guest key to assign; guests never see it' }),
  email: Type.Optional(Type.String({ maxLength: invitationTextLengths.email })),
  name: Type.Optional(Type.String({ maxLength: invitationTextLengths.name })),
  label: Type.Optional(guestLabel),
  note: Type.Optional(guestNote),
});
export type InvitationRow = Static<typeof invitationRow>;

/**
 * The body of A1. `name`, and `email` if nothing is mailed, are notes about the invited person, for the application's team. Older clients send
 * both.
 */
export const invitationInput = Type.Object({
  deliveryMethod,
  ...invitationRow.properties,
});

/** The body of a renewal. With `email`, a link is also mailed to the address of the invitation. */
export const invitationRenewal = Type.Object({ deliveryMethod });

export const invitationLink = Type.Object({
  status: Type.Literal('ok'),
  link: Type.String({ description: '`{base_url}/accept-invite?code=…`; shown only once' }),
});
export type InvitationLink = Static<typeof invitationLink>;

/** Many invitations of guests in one request. With `email`, a link is also mailed for each row that has an e-mail address. */
export const invitationsInput = Type.Object({
  deliveryMethod,
  invitations: Type.Array(invitationRow, { minItems: 1, maxItems: maxInvitationsAtOnce }),
  whenPending: Type.Optional(
    oneOf(['keep', 'renew'], {
      description:
        'what to do with a person who has a pending invitation: `keep` it (the default), or `renew` it with another link',
    }),
  ),
});

export type InvitationsInput = Static<typeof invitationsInput>;

/** The result for one person. */
export const invitationResult = Type.Object({
  guestKey: Type.String(),
  outcome: oneOf(['invited', 'renewed', 'pending', 'accepted', 'failed'], {
    description:
      '`invited`, `renewed`: with a link; `pending`, `accepted`: the person has an invitation already; `failed`: with an error',
  }),
  link: Type.Optional(Type.String({ description: '`{base_url}/accept-invite?code=…`; shown only once' })),
  expiresAt: Type.Optional(timestamp('when the link stops working')),
  isMailed: Type.Optional(Type.Boolean({ description: 'whether a link is also mailed' })),
  error: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
});
export type InvitationResult = Static<typeof invitationResult>;

/** One result for each person, in the order of the request. */
export const invitationResults = Type.Object({ objects: Type.Array(invitationResult) });
export type InvitationResults = Static<typeof invitationResults>;

/** The open invitations of guests that a request renews or revokes: by id, or all that a filter finds, in batches. */
export const invitationSelection = Type.Object({
  ids: Type.Optional(
    Type.Array(id('invitation', 'an open invitation of a guest'), { minItems: 1, maxItems: maxInvitationsAtOnce }),
  ),
  filter: Type.Optional(
    Type.Object({
      status: oneOf(['pending', 'expired']),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'as in the list of invitations' })),
      olderThanDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 36500 })),
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: '`nextCursor` of the last response, with the same filter' }),
  ),
});
export type InvitationSelection = Static<typeof invitationSelection>;

/** With `email`, a link is also mailed for each of the invitations that have an e-mail address. */
export const invitationsRenewal = Type.Object({ deliveryMethod, ...invitationSelection.properties });
export type InvitationsRenewal = Static<typeof invitationsRenewal>;

const batchFields = {
  skipped: Type.Integer({ description: 'how many of `ids` are no open invitations of guests' }),
  nextCursor: Type.Optional(
    Type.String({ description: 'send it as `cursor` for the next batch; absent after the last' }),
  ),
};

export const revokedInvitations = Type.Object({ revoked: Type.Integer(), ...batchFields });
export type RevokedInvitations = Static<typeof revokedInvitations>;

/** An invitation with another link. The previous link stops working. */
export const renewedInvitation = Type.Object({
  id: id('invitation', 'the invitation'),
  guestKey: Type.String(),
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  link: Type.String({ description: '`{base_url}/accept-invite?code=…`; shown only once' }),
  expiresAt: timestamp('when the link stops working'),
  isMailed: Type.Boolean({ description: 'whether a link is also mailed' }),
});
export type RenewedInvitation = Static<typeof renewedInvitation>;

export const renewedInvitations = Type.Object({ objects: Type.Array(renewedInvitation), ...batchFields });
export type RenewedInvitations = Static<typeof renewedInvitations>;

export const invitationStatus = oneOf(['pending', 'accepted', 'declined', 'revoked', 'expired']);
export type InvitationStatus = Static<typeof invitationStatus>;

const invitationFields = {
  id: id('invitation', 'the invitation'),
  status: invitationStatus,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  createdAt: timestamp('when it was created'),
  expiresAt: timestamp('when it stops working'),
  settledAt: nullable(timestamp('when it was accepted, declined or revoked')),
};

/** An invitation, for the application's members. It has no code, which is shown only in the response of A1. */
export const invitation = Type.Object({
  ...invitationFields,
  guestId: id('guest', 'the guest that it invites to'),
  guestKey: Type.String(),
  guestLabel: nullable(Type.String()),
});
export type Invitation = Static<typeof invitation>;

/** An invitation to the team, for the application's members. */
export const memberInvitation = Type.Object({
  ...invitationFields,
  role: memberRole,
  invitedBy: Type.Object({ userId: id('user', 'the member who made it'), name: Type.String() }),
});
export type MemberInvitation = Static<typeof memberInvitation>;

/** A guest, for a user who holds it. */
export const heldGuest = Type.Object({
  id: id('guest', 'the guest'),
  label: nullable(Type.String({ description: "the team's text for the users who hold it" })),
});
export type HeldGuest = Static<typeof heldGuest>;

/** A guest, for the application's members. */
export const guest = Type.Object({
  ...heldGuest.properties,
  guestKey: Type.String(),
  note: nullable(Type.String({ description: "the team's text for itself" })),
  ring: nullable(guestRing),
  users: Type.Array(
    Type.Object({
      userId: id('user', 'a user who holds the guest'),
      name: Type.String(),
      acceptedAt: timestamp('when the user accepted'),
    }),
  ),
  latestInvitation: nullable(Type.Object(invitationFields), { description: 'its newest invitation' }),
  createdAt: timestamp('when the first invitation was made'),
});
export type Guest = Static<typeof guest>;

/** `null` removes the text or the ring. A `PUT` that leaves a field out keeps that field's value. */
export const guestUpdate = Type.Partial(
  Type.Object({ label: nullable(guestLabel), note: nullable(guestNote), ring: nullable(guestRing) }),
);
export type GuestUpdate = Static<typeof guestUpdate>;

export const invitationCode = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 200, description: 'the `code` of the invitation link' }),
});

/** The response to accepting or declining an invitation. It has no guest key, which guests never see. */
export const invitationSettled = Type.Object({
  status: oneOf(['accepted', 'declined']),
  app: Type.Object({ id: id('app', 'the application that invited'), name: Type.String() }),
  guestId: Type.Optional(id('guest', 'the guest that the user now holds')),
  role: Type.Optional(memberRole),
});
export type InvitationSettled = Static<typeof invitationSettled>;
