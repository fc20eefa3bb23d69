import type { AppId, UserId } from '@tenon/protocol';
import type { SelectQueryBuilder } from 'kysely';
import {
  type AccountAuditEvent,
  type AuditEventRecord,
  type AuditFilter,
  type AuditPage,
  type NewestAction,
  parseAuditCursor,
} from '../db/audit-records.ts';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { columns, type Database } from '../db/records.ts';

const events = (db: Db) => db.selectFrom('audit_events').select(columns.accountAudit);
const withKeys = (db: Db) => events(db).select('guestKeys');

export const auditQueries = {
  auditOfApp: (db: Db, appId: AppId, filter: AuditFilter, page: AuditPage): Promise<AuditEventRecord[]> =>
    filtered(withKeys(db).where('appId', '=', appId), filter, page).execute(),

  /** The newest events of an application, without their details. */
  newestActions: (db: Db, appId: AppId, limit: number): Promise<NewestAction[]> =>
    db
      .selectFrom('audit_events')
      .select(['id', 'atMs', 'action', 'targetId'])
      .where('appId', '=', appId)
      .orderBy('atMs', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),

  auditOfAccount: (db: Db, accountId: UserId, filter: AuditFilter, page: AuditPage): Promise<AccountAuditEvent[]> =>
    filtered(events(db).where('accountId', '=', accountId), filter, page).execute(),

  /** All events, for the operator. */
  auditOfAll: (db: Db, filter: AuditFilter, page: AuditPage): Promise<AuditEventRecord[]> =>
    filtered(withKeys(db), filter, page).execute(),
};

/** Returns a page of the rows that match a filter, the newest first. */
function filtered<O>(
  rows: SelectQueryBuilder<Database, 'audit_events', O>,
  { action, userId, targetId, fromMs, toMs }: AuditFilter,
  { after, limit }: AuditPage,
): SelectQueryBuilder<Database, 'audit_events', O> {
  let found = rows;
  if (action !== undefined) found = found.where('action', '=', action);
  if (userId !== undefined) found = found.where('userId', '=', userId);
  if (targetId !== undefined) found = found.where('targetId', '=', targetId);
  if (fromMs !== undefined) found = found.where('atMs', '>=', fromMs);
  if (toMs !== undefined) found = found.where('atMs', '<', toMs);
  const last = after === undefined ? undefined : parseAuditCursor(after);
  if (last !== undefined) {
    found = found.where(({ eb, refTuple, tuple }) => eb(refTuple('atMs', 'id'), '<', tuple(last.atMs, last.id)));
  }
  return found.orderBy('atMs', 'desc').orderBy('id', 'desc').limit(limit);
}

/** Times the number of columns, it is below the maximum number of parameters: 32,766 in SQLite and 65,535 in PostgreSQL. */
const rowsPerInsert = 500;

export const auditMutations = {
  insertAuditEvent: statement(
    { audit: false, invalidates: nothing, records: ({ action }) => [action] },
    (db: Db, event: AuditEventRecord) => db.insertInto('audit_events').values(event),
  ),

  insertAuditEvents: mutation(
    { audit: false, invalidates: nothing, records: (events) => events.map(({ action }) => action) },
    async (db: Db, events: readonly AuditEventRecord[]): Promise<void> => {
      for (let at = 0; at < events.length; at += rowsPerInsert) {
        await db
          .insertInto('audit_events')
          .values(events.slice(at, at + rowsPerInsert))
          .execute();
      }
    },
  ),
};
