import {
  type AccountAuditEntry,
  type AppAuditEntry,
  type AuditExportFormat,
  auditActions,
  type OperatorAuditEntry,
} from '@tenon/protocol';
import { csvLine } from '@tenon/protocol/csv';
import type { AccountAuditEvent, AuditEventRecord } from '../db/audit-records.ts';
import type { Reply } from '../http/reply.ts';
import type { Services } from '../services.ts';

/** The media type of each format. `header=present`: CSV begins with a header line (RFC 4180 §3). */
const exportTypes: Readonly<Record<AuditExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** The columns of CSV, each with its value of an entry. */
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
 * Streams an audit trail as a file, with backpressure: at most one batch is in memory. Disconnects a client that reads nothing for
 * `idleTimeoutMs`.
 *
 * @param batches the events in the order of the file
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

/** Converts an event to the wire format for owners of its application. */
export function toAppAuditEntry(event: AuditEventRecord): AppAuditEntry {
  return { ...toAuditEntry(event), guestKeys: event.guestKeys ?? {} };
}

/** Converts an event to the wire format for its own account: without guest keys. */
export function toAccountAuditEntry(event: AccountAuditEvent): AccountAuditEntry {
  return { ...toAuditEntry(event), appId: event.appId, address: event.address };
}

/** Converts an event to the format for the operator. */
export function toOperatorAuditEntry(event: AuditEventRecord): OperatorAuditEntry {
  return { ...toAppAuditEntry(event), ...toAccountAuditEntry(event), accountId: event.accountId };
}

/** Converts an event to the fields that all wire formats share. */
export function toAuditEntry(event: AccountAuditEvent) {
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
