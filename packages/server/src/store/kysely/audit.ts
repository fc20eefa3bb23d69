import type { SelectQueryBuilder } from 'kysely';
import {
  type AuditFilter,
  type AuditMutations,
  type AuditPage,
  type AuditQueries,
  parseAuditCursor,
} from '../../domain/audit/ports.ts';
import { columns, type Database } from '../../domain/records.ts';
import type { Db } from './db.ts';

export function auditQueries(db: Db): AuditQueries {
  const events = () => db.selectFrom('audit_events').select(columns.accountAudit);
  const withKeys = () => events().select('guestKeys');
  return {
    auditOfApp: (appId, filter, page) => cut(withKeys().where('appId', '=', appId), filter, page).execute(),
    auditOfAccount: (accountId, filter, page) =>
      cut(events().where('accountId', '=', accountId), filter, page).execute(),
    auditOfAll: (filter, page) => cut(withKeys(), filter, page).execute(),
  };
}

/** The rows that a filter lets through, from the newest on. */
function cut<O>(
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

/** Times the number of columns it stays below what SQLite and PostgreSQL take of parameters: 32,766 and 65,535. */
const rowsPerInsert = 500;

export function auditMutations(db: Db): AuditMutations {
  return {
    async insertAuditEvent(event) {
      await db.insertInto('audit_events').values(event).execute();
    },
    async insertAuditEvents(events) {
      for (let at = 0; at < events.length; at += rowsPerInsert) {
        await db
          .insertInto('audit_events')
          .values(events.slice(at, at + rowsPerInsert))
          .execute();
      }
    },
    async deleteAuditBefore(beforeMs, limit) {
      const old = db
        .selectFrom('audit_events')
        .select('id')
        .where('atMs', '<', beforeMs)
        .orderBy('atMs')
        .orderBy('id')
        .limit(limit);
      const { numDeletedRows } = await db.deleteFrom('audit_events').where('id', 'in', old).executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}
