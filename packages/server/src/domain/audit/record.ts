import {
  type AppId,
  type AuditAction,
  type AuditDetail,
  type auditActions,
  type GuestId,
  newId,
  type SessionId,
  type TokenId,
  type UserId,
} from '@tenon/protocol';
import type { Context } from '../context.ts';
import type { Transaction } from '../ports.ts';
import type { GuestRecord } from '../records.ts';
import type { AuditEventRecord, AuditMeans } from './ports.ts';

/** A user who does something, and from where; an actor is one. */
export interface AuditUser {
  readonly userId: UserId;
  readonly tokenId?: TokenId;
  readonly sessionId: SessionId | null;
  /** Where it comes from. Kept where somebody signs in or up, and nowhere else. */
  readonly address?: string;
}

/** Who does what is told of. */
export type AuditBy = AuditUser | 'operator' | 'system';

type TrailOf<A extends AuditAction> = (typeof auditActions)[A]['trail'];

/** What is told of a change, beside who makes it and when. Names of people and secrets have no place in the details. */
export type AuditEntry<A extends AuditAction> = {
  readonly action: A;
  /** In whose account's trail it is. Default: that of the user who does it. */
  readonly accountId?: UserId;
  readonly target: { readonly id: string; readonly name: string | null };
  readonly details?: { readonly [Name in AuditDetail<A>]?: unknown };
  /** The guests that it is about. Their ids are told among the details, their keys to the application's owners alone. */
  readonly guests?: readonly Pick<GuestRecord, 'id' | 'guestKey'>[];
} & (TrailOf<A> extends 'app'
  ? { readonly appId: AppId }
  : TrailOf<A> extends 'account'
    ? { readonly appId?: never }
    : { readonly appId: AppId | null });

/**
 * Leaves a row of a change that the transaction makes. To be called before what it tells of is deleted: the names of users,
 * tokens and sessions are looked up here.
 */
export async function record<A extends AuditAction>(
  { clock }: Pick<Context, 'clock'>,
  tx: Transaction,
  by: AuditBy,
  entry: AuditEntry<A>,
): Promise<void> {
  const { action, target, guests } = entry;
  const user = typeof by === 'string' ? undefined : by;
  const ofGuests = guests === undefined ? {} : { guestIds: guests.map(({ id }) => id) };
  await tx.insertAuditEvent({
    id: newId('auditEvent'),
    atMs: clock(),
    action,
    appId: entry.appId ?? null,
    accountId: entry.accountId ?? user?.userId ?? null,
    ...(await nameAuthor(tx, by)),
    address: user?.address ?? null,
    targetId: target.id,
    targetName: target.name,
    details: { ...entry.details, ...ofGuests },
    guestKeys: new Map(guests?.map(({ id, guestKey }): [GuestId, string] => [id, guestKey])),
  });
}

async function nameAuthor(
  tx: Transaction,
  by: AuditBy,
): Promise<Pick<AuditEventRecord, 'by' | 'userId' | 'userName' | 'viaId' | 'viaName'>> {
  if (typeof by === 'string') return { by, userId: null, userName: null, viaId: null, viaName: null };
  const { userId, tokenId, sessionId } = by;
  const viaId: AuditMeans | null = sessionId ?? tokenId ?? null;
  const user = await tx.user(userId);
  return { by: 'user', userId, userName: user?.name ?? null, viaId, viaName: await nameMeans(tx, by) };
}

async function nameMeans(tx: Transaction, { tokenId, sessionId }: AuditUser): Promise<string | null> {
  if (sessionId !== null) return (await tx.session(sessionId))?.userAgent ?? null;
  return tokenId === undefined ? null : ((await tx.token(tokenId))?.name ?? null);
}

/** What of some fields differs, as details have it. */
export function changedFields<T extends object, K extends keyof T & string>(
  before: T,
  after: T,
  fields: readonly K[],
): { [Name in K]?: { readonly before: T[Name]; readonly after: T[Name] } } {
  const changed: { [Name in K]?: { before: T[Name]; after: T[Name] } } = {};
  for (const field of fields) {
    if (JSON.stringify(before[field]) === JSON.stringify(after[field])) continue;
    changed[field] = { before: before[field], after: after[field] };
  }
  return changed;
}
