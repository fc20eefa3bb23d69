import {
  type AccountAuditEntry,
  type AppAuditEntry,
  type AuditExportFormat,
  auditActions,
  type OperatorAuditEntry,
} from '@tenon/protocol';
import type { AccountAuditEvent, AuditEventRecord } from '../db/audit-records.ts';
import type { Reply } from '../http/reply.ts';
import type { Services } from '../services.ts';

/** How each format calls itself (RFC 4180 §3 for the header line that CSV begins with). */
const exportTypes: Readonly<Record<AuditExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** The columns of a table, and what each has of an entry. */
const columns: Readonly<Record<string, (entry: AppAuditEntry) => string | null | undefined>> = {
  at: ({ at }) => at,
  action: ({ action }) => action,
  by: ({ by }) => by,
  user_id: ({ user }) => user?.id,
  user_name: ({ user }) => user?.name,
  via_id: ({ via }) => via?.id,
  via_name: ({ via }) => via?.name,
  target_kind: ({ target }) => target.kind,
  target_id: ({ target }) => target.id,
  target_name: ({ target }) => target.name,
  guest_keys: ({ guestKeys }) => Object.values(guestKeys).join(' '),
  details: ({ details }) => JSON.stringify(details),
  id: ({ id }) => id,
};

/**
 * Answers with a trail as a file, as fast as the client takes it and the store gives it: no more than a batch is in memory. A
 * client that takes nothing for too long is cut off.
 *
 * @param batches the events, in the order in which they are to come
 */
export function sendAuditExport(
  { settings }: Services,
  reply: Reply,
  format: AuditExportFormat,
  name: string,
  batches: AsyncIterable<readonly AuditEventRecord[]>,
): Reply {
  const { response } = reply;
  response.setTimeout(settings.idleTimeoutMs, () => response.destroy());
  return reply
    .header('content-type', exportTypes[format])
    .header('content-disposition', `attachment; filename="${name}.${format}"`)
    .send(textOf(format, batches));
}

async function* textOf(
  format: AuditExportFormat,
  batches: AsyncIterable<readonly AuditEventRecord[]>,
): AsyncGenerator<Buffer> {
  if (format === 'csv') yield Buffer.from(csvLine(Object.keys(columns)));
  const line = format === 'csv' ? toCsv : toJson;
  for await (const batch of batches) {
    yield Buffer.from(batch.map((event) => line(toAppAuditEntry(event))).join(''));
  }
}

function toJson(entry: AppAuditEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

function toCsv(entry: AppAuditEntry): string {
  return csvLine(Object.values(columns).map((cellOf) => cellOf(entry) ?? ''));
}

/** A line of a table (RFC 4180 §2), whose cells no spreadsheet takes for a formula. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** What makes a spreadsheet take a cell for a formula: https://owasp.org/www-community/attacks/CSV_Injection */
const startsFormula = /^[=+\-@\t\r\n]/;

function csvCell(text: string): string {
  const harmless = startsFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** An entry of an application's trail, as it goes over the wire to its owners. */
export function toAppAuditEntry(event: AuditEventRecord): AppAuditEntry {
  return { ...toEntry(event), guestKeys: event.guestKeys ?? {} };
}

/** An entry of an account's own trail, as it goes over the wire: without guest keys, which the store didn't tell either. */
export function toAccountAuditEntry(event: AccountAuditEvent): AccountAuditEntry {
  return { ...toEntry(event), appId: event.appId, address: event.address };
}

/** An entry of whatever trail, as the operator reads it. */
export function toOperatorAuditEntry(event: AuditEventRecord): OperatorAuditEntry {
  return { ...toAppAuditEntry(event), ...toAccountAuditEntry(event), accountId: event.accountId };
}

function toEntry(event: AccountAuditEvent) {
  const { id, atMs, action, by, userId, userName, viaId, viaName, targetId, targetName, details } = event;
  return {
    id,
    at: new Date(atMs).toISOString(),
    action,
    by,
    user: userId === null ? null : { id: userId, name: userName ?? '' },
    via: viaId === null ? null : { id: viaId, name: viaName },
    target: { kind: auditActions[action].target, id: targetId, name: targetName },
    details: { ...details },
  };
}
