import {
  guestKeyFault,
  type InvitationId,
  type InvitationResult,
  type InvitationRow,
  type InvitationSelection,
  type InvitationsInput,
  type InvitationsRenewal,
  maxInvitationsAtOnce,
} from '@tenon/protocol';
import { record, recordAll } from '../audit/record.ts';
import { type Actor, type AppAccess, renewAccess } from '../auth/access.ts';
import { invitationStatus } from '../auth/find-invitation.ts';
import { chargeMail, takeQuota } from '../auth/quotas.ts';
import { isMailAddress } from '../config/readers.ts';
import type { GuestInvitation, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, type FieldFault } from '../http/domain-errors.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { changeGuestFields, makeGuest } from './guests.ts';
import { queueInvitationMail } from './invitation-mail.ts';
import { insertInvitation, requireDeliveryMethod } from './invitations.ts';
import { openInvitation, renewInvitation } from './open-invitations.ts';

/*
 * Invitations in batches. Each batch is one transaction of at most `maxInvitationsAtOnce` invitations, so that it delays other changes
 * only briefly.
 */

/** The result for one person. `code` is the code of a link; only its hash is stored. */
export type InvitedRow = Omit<InvitationResult, 'link' | 'expiresAt'> & {
  readonly code?: string;
  readonly expiresAtMs?: number;
};

/**
 * Invites many persons as guests. A repeated request makes no second invitation: a person is known by the guest key with the address, or
 * without an address with the name.
 *
 * @returns a result per row. A row that exceeds a quota fails, and the others apply
 * @throws DomainError `unsupported_delivery_method`; `invalid_field`, which names all invalid rows; nothing changes then
 */
export async function inviteGuests(
  deps: Deps,
  actor: Actor,
  access: AppAccess,
  { invitations: rows, deliveryMethod, whenPending }: InvitationsInput,
): Promise<InvitedRow[]> {
  const isMailed = requireDeliveryMethod(deps, deliveryMethod) === 'email';
  requireValidRows(rows, isMailed);
  const renewsPending = whenPending === 'renew';
  const appId = access.app.id;
  return deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const results: InvitedRow[] = [];
    let used = await tx.countGuests(appId, deps.clock());
    for (const row of rows) {
      try {
        const { result, added } = await inviteRow(deps, tx, actor, access, row, { renewsPending, isMailed, used });
        results.push(result);
        used += added;
      } catch (error) {
        if (!(error instanceof DomainError && /^(quota_exceeded|rate_limited)$/.test(error.code))) throw error;
        const { code, message: detail } = error;
        results.push({ guestKey: row.guestKey, outcome: 'failed', error: { code, detail } });
      }
    }
    return results;
  });
}

function requireValidRows(rows: readonly InvitationRow[], isMailed: boolean): void {
  const errors = rows.flatMap(({ guestKey, email }, at): FieldFault[] => {
    const fault = guestKeyFault(guestKey);
    const faults =
      fault === undefined ? [] : [{ pointer: `/invitations/${at}/guestKey`, detail: `a guest key ${fault}` }];
    if (!isMailed || email === undefined || isMailable(email)) return faults;
    return [...faults, { pointer: `/invitations/${at}/email`, detail: 'must be an e-mail address' }];
  });
  const [first] = errors;
  if (first !== undefined) throw new DomainError('invalid_field', `${first.pointer}: ${first.detail}`, { errors });
}

function isMailable(email: string | null | undefined): email is string {
  return typeof email === 'string' && isMailAddress(email.trim());
}

interface RowOptions {
  /** Whether a person with a pending invitation gets another link. */
  readonly renewsPending: boolean;
  /** Whether the links are also mailed, to those with an address. */
  readonly isMailed: boolean;
  /** How much of the quota `guests` is used. */
  readonly used: number;
}

/** @returns the result, and by how much the row raises the use of the quota `guests` */
async function inviteRow(
  deps: Deps,
  tx: Transaction,
  actor: Actor,
  access: AppAccess,
  row: InvitationRow,
  { renewsPending, isMailed, used }: RowOptions,
): Promise<{ readonly result: InvitedRow; readonly added: number }> {
  const { guestKey, label, note, email = null, name = null } = row;
  const appId = access.app.id;
  const present = await tx.guestByKey(appId, guestKey);
  const earlier = present === undefined ? undefined : await tx.latestInvitationOf(present.id, { email, name });
  const status = earlier === undefined ? undefined : invitationStatus(earlier, deps.clock());
  const keeps = status === 'accepted' || (status === 'pending' && !renewsPending);
  const added = (present === undefined ? 1 : 0) + (keeps || status === 'pending' ? 0 : 1);
  if (added > 0) await takeQuota(deps, tx, 'guests', appId, used, added);
  const mailTo = isMailed && !keeps ? row.email?.trim() : undefined;
  if (mailTo !== undefined) await chargeMail(deps, tx, actor.userId);

  const guest =
    present === undefined
      ? await makeGuest(deps, tx, appId, { guestKey, label, note })
      : await changeGuestFields(deps, tx, actor, present, { label, note });
  if (keeps) return { result: { guestKey, outcome: status }, added };
  const mail = async (invitationId: InvitationId): Promise<void> => {
    if (mailTo === undefined) return;
    await queueMail(deps, tx, { kind: 'invitation', recipient: mailTo, invitationId, appId });
  };
  if (earlier !== undefined) {
    const { code, expiresAtMs } = await renewInvitation(deps, tx, actor, earlier, [guest]);
    await mail(earlier.id);
    const result = { guestKey, outcome: 'renewed', code, expiresAtMs, isMailed: mailTo !== undefined } as const;
    return { result, added };
  }
  const invited = await insertInvitation(deps, tx, actor, { appId, guestId: guest.id, role: null, email, name }, used);
  const target = { id: guest.id, name: null };
  const details = { invitationId: invited.id };
  await record(deps, tx, actor, { action: 'guest.invite', appId, target, details, guests: [guest] });
  await mail(invited.id);
  const { code, expiresAtMs } = invited;
  return { result: { guestKey, outcome: 'invited', code, expiresAtMs, isMailed: mailTo !== undefined }, added };
}

/** A batch of changed invitations. */
export interface InvitationBatch<T> {
  readonly changed: readonly T[];
  /** How many of the selected ids are not those of open invitations of guests. */
  readonly skipped: number;
  /** The cursor of the next batch; `undefined` after the last one. */
  readonly nextCursor: string | undefined;
}

export type RenewedGuestInvitation = GuestInvitation & { readonly code: string; readonly isMailed: boolean };

/**
 * Renews invitations of guests, also expired ones: each gets another link, and the previous link stops working. With the delivery method
 * `email`, those that have an e-mail address are mailed.
 *
 * @throws DomainError `unsupported_delivery_method`, `invalid_field`, `quota_exceeded`, `rate_limited`; nothing changes then
 */
export function renewInvitations(
  deps: Deps,
  access: AppAccess,
  { deliveryMethod, ...selection }: InvitationsRenewal,
): Promise<InvitationBatch<RenewedGuestInvitation>> {
  const mails = requireDeliveryMethod(deps, deliveryMethod) === 'email';
  const { actor } = access;
  return changeBatch(deps, access, selection, async (tx, invitations) => {
    const nowMs = deps.clock();
    const expired = invitations.filter((one) => invitationStatus(one, nowMs) === 'expired').length;
    if (expired > 0) {
      const used = await tx.countGuests(access.app.id, nowMs);
      await takeQuota(deps, tx, 'guests', access.app.id, used, expired);
    }
    const changed: RenewedGuestInvitation[] = [];
    for (const one of invitations) {
      const { id: invitationId, appId, email, guestId, guestKey } = one;
      const renewed = await renewInvitation(deps, tx, actor, one, [{ id: guestId, guestKey }]);
      const isMailed = mails && isMailable(email);
      if (isMailed) await queueInvitationMail(deps, tx, actor.userId, { recipient: email.trim(), invitationId, appId });
      changed.push({ ...one, ...renewed, isMailed });
    }
    return changed;
  });
}

/**
 * Revokes pending and expired invitations of guests.
 *
 * @throws DomainError `invalid_field`
 */
export function revokeInvitations(
  deps: Deps,
  access: AppAccess,
  selection: InvitationSelection,
): Promise<InvitationBatch<GuestInvitation>> {
  return changeBatch(deps, access, selection, async (tx, invitations) => {
    if (invitations.length === 0) return invitations;
    const ids = invitations.map(({ id }) => id);
    await tx.revokeInvitations(ids, deps.clock());
    const entries = invitations.map(({ id, appId, guestId, guestKey }) => ({
      action: 'invitation.revoke' as const,
      appId,
      target: { id, name: null },
      guests: [{ id: guestId, guestKey }],
    }));
    await recordAll(deps, tx, access.actor, entries);
    return invitations;
  });
}

const dayMs = 24 * 60 * 60 * 1000;

async function changeBatch<T>(
  deps: Deps,
  access: AppAccess,
  { ids, filter, cursor }: InvitationSelection,
  change: (tx: Transaction, invitations: readonly GuestInvitation[]) => Promise<readonly T[]>,
): Promise<InvitationBatch<T>> {
  if ((ids === undefined) === (filter === undefined)) {
    throw new DomainError('invalid_field', 'Send either "ids" or "filter".', {
      errors: [{ pointer: '/ids', detail: 'must be there, unless there is a "filter"' }],
    });
  }
  return deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeGuests');
    const nowMs = deps.clock();
    const { status, q: text, olderThanDays } = filter ?? {};
    const createdBeforeMs = olderThanDays === undefined ? undefined : nowMs - olderThanDays * dayMs;
    const page = { after: cursor, limit: maxInvitationsAtOnce };
    const found = await tx.invitations(access.app.id, page, {
      ids: ids as InvitationId[] | undefined,
      status,
      text,
      createdBeforeMs,
      nowMs,
    });
    const open = found.filter(openInvitation);
    const changed = await change(tx, open);
    const nextCursor = filter !== undefined && found.length === maxInvitationsAtOnce ? found.at(-1)?.id : undefined;
    return { changed, skipped: ids === undefined ? 0 : new Set(ids).size - open.length, nextCursor };
  });
}
