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

/** Where it was done from: an access token, or the session of a browser. */
export type AuditMeans = TokenId | SessionId;

/** What somebody did, as it is kept: in the same transaction as the change, and never changed but where people are forgotten. */
export interface AuditEventRecord {
  readonly id: AuditEventId;
  readonly atMs: number;
  readonly action: AuditAction;
  /** In whose trail it is: an application's, an account's, of both, or of none, which the operator alone reads. */
  readonly appId: AppId | null;
  readonly accountId: UserId | null;
  readonly by: AuditAuthor;
  /** Set when it was a user. */
  readonly userId: UserId | null;
  readonly userName: string | null;
  readonly viaId: AuditMeans | null;
  readonly viaName: string | null;
  /** The network address, where somebody signed in or up. */
  readonly address: string | null;
  readonly targetId: string;
  readonly targetName: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** The keys of the guests that it is about, by their ids; `null` for none, or when the application is gone. No trail of an account has them. */
  readonly guestKeys: Readonly<Record<GuestId, string>> | null;
}

/** An entry of an account's trail: whoever reads that may be a guest, whom guest keys are not told. */
export type AccountAuditEvent = Omit<AuditEventRecord, 'guestKeys'>;

/** Which events are asked for; what is left out lets all through. */
export interface AuditFilter {
  readonly action?: AuditAction | undefined;
  readonly userId?: UserId | undefined;
  readonly targetId?: string | undefined;
  /** The first moment. */
  readonly fromMs?: number | undefined;
  /** The moment before which they end. */
  readonly toMs?: number | undefined;
}

/** A stretch of a trail, from the newest to the oldest; `after` is {@link auditCursor} of the last one that was shown. */
export interface AuditPage {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Where an event stands in every trail. */
export function auditCursor({ atMs, id }: Pick<AuditEventRecord, 'atMs' | 'id'>): string {
  return `${atMs}.${id}`;
}

/** What {@link auditCursor} was made of; `undefined` for another text. */
export function parseAuditCursor(cursor: string): { readonly atMs: number; readonly id: AuditEventId } | undefined {
  const match = /^(\d{1,15})\.(evt_[0-9a-z]{26})$/.exec(cursor);
  return match === null ? undefined : { atMs: Number(match[1]), id: match[2] as AuditEventId };
}

/** Trails, the newest event first. */
export interface AuditQueries {
  auditOfApp(appId: AppId, filter: AuditFilter, page: AuditPage): Promise<AuditEventRecord[]>;
  auditOfAccount(accountId: UserId, filter: AuditFilter, page: AuditPage): Promise<AccountAuditEvent[]>;
  /** All that there is, for the operator. */
  auditOfAll(filter: AuditFilter, page: AuditPage): Promise<AuditEventRecord[]>;
}

export interface AuditMutations {
  insertAuditEvent(event: AuditEventRecord): Promise<void>;
  insertAuditEvents(events: readonly AuditEventRecord[]): Promise<void>;
  /** Deletes events from before a time, the oldest first. @returns how many */
  deleteAuditBefore(beforeMs: number, limit: number): Promise<number>;
}
