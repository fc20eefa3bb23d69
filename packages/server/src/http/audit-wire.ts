import { type AccountAuditEntry, type AppAuditEntry, auditActions, type OperatorAuditEntry } from '@tenon/protocol';
import type { AccountAuditEvent, AuditEventRecord } from '../domain/audit/ports.ts';

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
