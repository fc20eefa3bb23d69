import {
  type AppId,
  type AuditAction,
  type AuditDetail,
  type AuditTrail,
  type auditActions,
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
export interface AuditUserActor {
  readonly userId: UserId;
  readonly tokenId?: TokenId;
  readonly sessionId: SessionId | null;
  /** Where it comes from. Kept where somebody signs in or up, and nowhere else. */
  readonly address?: string;
}

/** Who does what is told of. */
export type AuditActor = AuditUserActor | 'operator' | 'system';

type ActionIn<Trail extends AuditTrail> = {
  [A in AuditAction]: (typeof auditActions)[A]['trail'] extends Trail ? A : never;
}[AuditAction];

/** The actions that an application's trail tells of, and those that are about an account alone. */
export type AppAction = ActionIn<'app' | 'both'>;
export type AccountAction = ActionIn<'account' | 'both'>;

/** What is told of a change, beside who makes it and when. Names of people and secrets have no place in the details. */
export interface AuditEntry<A extends AuditAction> {
  readonly action: A;
  /** In whose account's trail it is. Default: that of the user who does it. */
  readonly accountId?: UserId;
  readonly target: { readonly id: string; readonly name: string | null };
  readonly details?: { readonly [Name in AuditDetail<A>]?: unknown };
  /** The guests that it is about. Their ids are told among the details, their keys to the application's owners alone. */
  readonly guests?: readonly Pick<GuestRecord, 'id' | 'guestKey'>[];
}

/** What is told in an application's trail too. */
export interface AppEntry<A extends AppAction> extends AuditEntry<A> {
  readonly appId: AppId;
}

/**
 * Leaves a row of a change that the transaction makes. To be called before what it tells of is deleted: the names of users,
 * tokens and sessions are looked up here.
 */
export function record<A extends AppAction>(
  parts: Pick<Context, 'clock'>,
  tx: Transaction,
  by: AuditActor,
  entry: AppEntry<A>,
): Promise<void>;
export function record<A extends AccountAction>(
  parts: Pick<Context, 'clock'>,
  tx: Transaction,
  by: AuditActor,
  entry: AuditEntry<A>,
): Promise<void>;
export async function record(
  parts: Pick<Context, 'clock'>,
  tx: Transaction,
  by: AuditActor,
  entry: AnyEntry,
): Promise<void> {
  await tx.insertAuditEvent(toEvent(entry, by, parts.clock(), await describeActor(tx, by)));
}

/** As {@link record}, for many changes that one actor makes at once: a few statements, however many they are. */
export async function recordAll<A extends AppAction>(
  parts: Pick<Context, 'clock'>,
  tx: Transaction,
  by: AuditActor,
  entries: readonly AppEntry<A>[],
): Promise<void> {
  const [nowMs, author] = [parts.clock(), await describeActor(tx, by)];
  await tx.insertAuditEvents(entries.map((entry) => toEvent(entry as AnyEntry, by, nowMs, author)));
}

type AnyEntry = AuditEntry<AuditAction> & { readonly appId?: AppId };
type ActorColumns = Pick<AuditEventRecord, 'by' | 'userId' | 'userName' | 'viaId' | 'viaName'>;

function toEvent(entry: AnyEntry, by: AuditActor, atMs: number, author: ActorColumns): AuditEventRecord {
  const { action, target, guests } = entry;
  const user = typeof by === 'string' ? undefined : by;
  const ofGuests = guests === undefined ? {} : { guestIds: guests.map(({ id }) => id) };
  return {
    id: newId('auditEvent'),
    atMs,
    action,
    appId: entry.appId ?? null,
    accountId: entry.accountId ?? user?.userId ?? null,
    ...author,
    address: user?.address ?? null,
    targetId: target.id,
    targetName: target.name,
    details: { ...entry.details, ...ofGuests },
    guestKeys: guests?.length ? Object.fromEntries(guests.map(({ id, guestKey }) => [id, guestKey])) : null,
  };
}

async function describeActor(tx: Transaction, by: AuditActor): Promise<ActorColumns> {
  if (typeof by === 'string') return { by, userId: null, userName: null, viaId: null, viaName: null };
  const { userId, tokenId, sessionId } = by;
  const viaId: AuditMeans | null = sessionId ?? tokenId ?? null;
  const user = await tx.user(userId);
  return { by: 'user', userId, userName: user?.name ?? null, viaId, viaName: await credentialName(tx, by) };
}

async function credentialName(tx: Transaction, { tokenId, sessionId }: AuditUserActor): Promise<string | null> {
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
