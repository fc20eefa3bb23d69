import { toAuditEntry } from '../audit/audit-export.ts';
import type { AccountAuditEvent } from '../db/audit-records.ts';

/** The largest payload, in bytes. The specification recommends less than 20 kB. */
export const maxPayloadBytes = 19_000;

/**
 * Returns the body of a delivery: the entry of the application's audit trail, without guest keys and network addresses. Details that are
 * too large are left out, and `isShortened` says so.
 */
export function toPayload(event: AccountAuditEvent): string {
  const { id, at, action, by, user, via, target, details } = toAuditEntry(event);
  const data = { id, appId: event.appId, by, user, via, target };
  const whole = JSON.stringify({ type: action, timestamp: at, data: { ...data, details } });
  if (Buffer.byteLength(whole) <= maxPayloadBytes) return whole;
  return JSON.stringify({ type: action, timestamp: at, data: { ...data, details: {}, isShortened: true } });
}
