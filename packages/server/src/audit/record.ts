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
import type { AuditCredentialId, AuditEventRecord } from '../db/audit-records.ts';
import type { GuestRecord, SessionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';

/** A user who makes an audited change, with the credential. `Actor` is assignable to it. */
export interface AuditUserActor {
  readonly userId: UserId;
  readonly tokenId?: TokenId;
  readonly sessionId: SessionId | null;
  /** The network address. It is recorded only for sign-ins and sign-ups. */
  readonly address?: string;
}

export type AuditActor = AuditUserActor | 'operator' | 'system';

type ActionIn<Trail extends AuditTrail> = {
  [A in AuditAction]: (typeof auditActions)[A]['trail'] extends Trail ? A : never;
}[AuditAction];

/** The actions that an application's audit trail contains. */
export type AppAction = ActionIn<'app' | 'both'>;

/** The actions that an account's audit trail contains. */
type AccountAction = ActionIn<'account' | 'both'>;

/** An audit event without its actor and time. */
export interface AuditEntry<A extends AuditAction> {
  readonly action: A;
  /** The account whose audit trail contains the event. Default: the actor's account. */
  readonly accountId?: UserId | undefined;
  /** The network address of a refused request. Default: the actor's. */
  readonly address?: string | null;
  readonly target: { readonly id: string; readonly name: string | null };
  /** Must not contain secrets or users' names. */
  readonly details?: { readonly [Name in AuditDetail<A>]?: unknown };
  /** The guests that the change affects. Their ids become part of the details. Only owners of the application see their keys. */
  readonly guests?: readonly Pick<GuestRecord, 'id' | 'guestKey'>[];
}

/** An audit event that an application's audit trail contains. */
export interface AppEntry<A extends AppAction> extends AuditEntry<A> {
  readonly appId: AppId;
}

/** An audit event that only an account's audit trail contains. */
type AccountEntry = {
  [A in AccountAction]: AuditEntry<A> & { readonly appId?: undefined };
}[AccountAction];

type RecordDeps = Pick<Deps, 'clock' | 'auditAuthor'>;

/**
 * Inserts the audit event of a change, in the transaction of the change. It reads the names of the actor's user, token and session, so
 * call it before they are deleted.
 */
export async function record<A extends AppAction>(
  deps: RecordDeps,
  tx: Transaction,
  actor: AuditActor,
  entry: AppEntry<A> | AccountEntry,
): Promise<void> {
  await recordEvent(deps, tx, actor, entry);
}

/** As {@link record}. @returns the event */
export async function recordEvent<A extends AppAction>(
  deps: RecordDeps,
  tx: Transaction,
  actor: AuditActor,
  entry: AppEntry<A> | AccountEntry,
): Promise<AuditEventRecord> {
  const event = toEvent(entry, actor, deps.clock(), await describeActor(tx, deps.auditAuthor ?? actor));
  await tx.insertAuditEvent(event);
  return event;
}

/** As {@link record}, for many changes by one actor. It needs few statements. */
export async function recordAll<A extends AppAction>(
  deps: RecordDeps,
  tx: Transaction,
  actor: AuditActor,
  entries: readonly AppEntry<A>[],
): Promise<void> {
  const [nowMs, actorFields] = [deps.clock(), await describeActor(tx, deps.auditAuthor ?? actor)];
  await tx.insertAuditEvents(entries.map((entry) => toEvent(entry, actor, nowMs, actorFields)));
}

/** The fields of an audit event that describe its actor. */
type ActorFields = Pick<AuditEventRecord, 'by' | 'userId' | 'userName' | 'viaId' | 'viaName'>;

function toEvent(
  entry: AppEntry<AppAction> | AccountEntry,
  actor: AuditActor,
  atMs: number,
  actorFields: ActorFields,
): AuditEventRecord {
  const { action, target, guests } = entry;
  const user = typeof actor === 'string' ? undefined : actor;
  const ofGuests = guests === undefined ? {} : { guestIds: guests.map(({ id }) => id) };
  return {
    id: newId('auditEvent'),
    atMs,
    action,
    appId: entry.appId ?? null,
    accountId: entry.accountId ?? user?.userId ?? null,
    ...actorFields,
    address: entry.address ?? user?.address ?? null,
    targetId: target.id,
    targetName: target.name,
    details: { ...entry.details, ...ofGuests },
    guestKeys: guests?.length ? Object.fromEntries(guests.map(({ id, guestKey }) => [id, guestKey])) : null,
  };
}

async function describeActor(tx: Transaction, actor: AuditActor): Promise<ActorFields> {
  if (typeof actor === 'string') return { by: actor, userId: null, userName: null, viaId: null, viaName: null };
  const { userId, tokenId, sessionId } = actor;
  const viaId: AuditCredentialId | null = sessionId ?? tokenId ?? null;
  const user = await tx.user(userId);
  return { by: 'user', userId, userName: user?.name ?? null, viaId, viaName: await credentialName(tx, actor) };
}

async function credentialName(tx: Transaction, { tokenId, sessionId }: AuditUserActor): Promise<string | null> {
  if (sessionId !== null) return (await tx.session(sessionId))?.userAgent ?? null;
  return tokenId === undefined ? null : ((await tx.token(tokenId))?.name ?? null);
}

/** Compares fields of two records, by default all, and returns those that differ, for the details of an audit event. */
export function changedFields<T extends object, K extends keyof T & string>(
  before: T,
  after: T,
  fields: readonly K[] = Object.keys(before) as K[],
): { [Name in K]?: { readonly before: T[Name]; readonly after: T[Name] } } {
  const changed: { [Name in K]?: { before: T[Name]; after: T[Name] } } = {};
  for (const field of fields) {
    if (JSON.stringify(before[field]) === JSON.stringify(after[field])) continue;
    changed[field] = { before: before[field], after: after[field] };
  }
  return changed;
}

/** Returns the user of a browser's session as the actor of an audit event. */
export function sessionActor({ userId, id }: SessionRecord) {
  return { userId, sessionId: id };
}

/** Returns a session as the target of an audit event. */
export function sessionTarget({ id, userAgent }: SessionRecord) {
  return { id, name: userAgent };
}
