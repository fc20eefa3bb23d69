import type {
  AppId,
  AuditAction,
  AuditAuthor,
  AuditEventId,
  GuestId,
  SessionId,
  TokenId,
  UserId,
} from '@tenon/protocol';

/** The credential of a change: an access token, or a browser's session. */
export type AuditCredentialId = TokenId | SessionId;

/**
 * An event of the audit trail. It is inserted in the transaction of the change that it describes. It is never updated, except that the
 * names of deleted users are removed.
 */
export interface AuditEventRecord {
  readonly id: AuditEventId;
  readonly atMs: number;
  readonly action: AuditAction;
  /** The application whose audit trail contains the event. Without an application and an account, only the operator sees the event. */
  readonly appId: AppId | null;
  /** The account whose audit trail contains the event. */
  readonly accountId: UserId | null;
  /** The kind of actor. */
  readonly by: AuditAuthor;
  /** The actor, if it is a user. */
  readonly userId: UserId | null;
  readonly userName: string | null;
  readonly viaId: AuditCredentialId | null;
  readonly viaName: string | null;
  /** The network address of a sign-in or a sign-up. */
  readonly address: string | null;
  readonly targetId: string;
  readonly targetName: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** The keys of the affected guests, by their ids; `null` without guests, and after the application was deleted. */
  readonly guestKeys: Readonly<Record<GuestId, string>> | null;
}

/** The name of deleted users in audit events. */
export const deletedUserName = 'Deleted user';

/** What happened to which resource, and when. */
export type NewestAction = Pick<AuditEventRecord, 'id' | 'atMs' | 'action' | 'targetId'>;

/** An event of an account's audit trail. It has no guest keys, because a guest may read it. */
export type AccountAuditEvent = Omit<AuditEventRecord, 'guestKeys'>;

/** Selects events. An omitted field selects all. */
export interface AuditFilter {
  readonly action?: AuditAction | undefined;
  readonly userId?: UserId | undefined;
  readonly targetId?: string | undefined;
  /** The earliest time, inclusive. */
  readonly fromMs?: number | undefined;
  /** The latest time, exclusive. */
  readonly toMs?: number | undefined;
}

/** A page of an audit trail, the newest event first. */
export interface AuditPage {
  /** The {@link auditCursor} of the last event of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Returns the position of an event in every audit trail. */
export function auditCursor({ atMs, id }: Pick<AuditEventRecord, 'atMs' | 'id'>): string {
  return `${atMs}.${id}`;
}

/** Parses an {@link auditCursor}. Returns `undefined` for an invalid one. */
export function parseAuditCursor(cursor: string): { readonly atMs: number; readonly id: AuditEventId } | undefined {
  const match = /^(\d{1,15})\.(evt_[0-9a-z]{26})$/.exec(cursor);
  return match === null ? undefined : { atMs: Number(match[1]), id: match[2] as AuditEventId };
}
