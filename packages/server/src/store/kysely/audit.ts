import type { GuestId } from '@tenon/protocol';
import type { SelectQueryBuilder } from 'kysely';
import {
  type AccountAuditEvent,
  type AuditEventRecord,
  type AuditFilter,
  type AuditMutations,
  type AuditPage,
  type AuditQueries,
  parseAuditCursor,
} from '../../domain/audit/ports.ts';
import type { Database, Db } from './schema.ts';

const columns = [
  'id',
  'at_ms as atMs',
  'action',
  'app_id as appId',
  'account_id as accountId',
  'author as by',
  'user_id as userId',
  'user_name as userName',
  'via_id as viaId',
  'via_name as viaName',
  'address',
  'target_id as targetId',
  'target_name as targetName',
  'details_json as detailsJson',
] as const;

export function auditQueries(db: Db): AuditQueries {
  const events = () => db.selectFrom('audit_events').select(columns);
  const withKeys = () => events().select('guest_keys_json as guestKeysJson');
  return {
    async auditOfApp(appId, filter, page) {
      const rows = await cut(withKeys().where('app_id', '=', appId), filter, page).execute();
      return rows.map(toEvent);
    },
    async auditOfAccount(accountId, filter, page) {
      const rows = await cut(events().where('account_id', '=', accountId), filter, page).execute();
      return rows.map(toAccountEvent);
    },
    async auditOfAll(filter, page) {
      return (await cut(withKeys(), filter, page).execute()).map(toEvent);
    },
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
  if (userId !== undefined) found = found.where('user_id', '=', userId);
  if (targetId !== undefined) found = found.where('target_id', '=', targetId);
  if (fromMs !== undefined) found = found.where('at_ms', '>=', fromMs);
  if (toMs !== undefined) found = found.where('at_ms', '<', toMs);
  const last = after === undefined ? undefined : parseAuditCursor(after);
  if (last !== undefined) {
    found = found.where(({ eb, refTuple, tuple }) => eb(refTuple('at_ms', 'id'), '<', tuple(last.atMs, last.id)));
  }
  return found.orderBy('at_ms', 'desc').orderBy('id', 'desc').limit(limit);
}

type AccountRow = Omit<AccountAuditEvent, 'details'> & { readonly detailsJson: string };

function toAccountEvent({ detailsJson, ...row }: AccountRow): AccountAuditEvent {
  return { ...row, details: JSON.parse(detailsJson) as AccountAuditEvent['details'] };
}

function toEvent({ guestKeysJson, ...row }: AccountRow & { readonly guestKeysJson: string | null }): AuditEventRecord {
  const keys = JSON.parse(guestKeysJson ?? '[]') as [GuestId, string][];
  return { ...toAccountEvent(row), guestKeys: new Map(keys) };
}

/** Times the number of columns it stays below what SQLite and PostgreSQL take of parameters: 32,766 and 65,535. */
const rowsPerInsert = 500;

function toRow(event: AuditEventRecord): Database['audit_events'] {
  return {
    id: event.id,
    at_ms: event.atMs,
    action: event.action,
    app_id: event.appId,
    account_id: event.accountId,
    author: event.by,
    user_id: event.userId,
    user_name: event.userName,
    via_id: event.viaId,
    via_name: event.viaName,
    address: event.address,
    target_id: event.targetId,
    target_name: event.targetName,
    details_json: JSON.stringify(event.details),
    guest_keys_json: event.guestKeys.size === 0 ? null : JSON.stringify([...event.guestKeys]),
  };
}

export function auditMutations(db: Db): AuditMutations {
  return {
    async insertAuditEvent(event) {
      await db.insertInto('audit_events').values(toRow(event)).execute();
    },
    async insertAuditEvents(events) {
      for (let at = 0; at < events.length; at += rowsPerInsert) {
        const rows = events.slice(at, at + rowsPerInsert).map(toRow);
        await db.insertInto('audit_events').values(rows).execute();
      }
    },
    async deleteAuditBefore(beforeMs, limit) {
      const old = db
        .selectFrom('audit_events')
        .select('id')
        .where('at_ms', '<', beforeMs)
        .orderBy('at_ms')
        .orderBy('id')
        .limit(limit);
      const { numDeletedRows } = await db.deleteFrom('audit_events').where('id', 'in', old).executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}
