import { auditActions } from '@tenon/protocol';
import type { AuditLinkRecord } from '../db/audit-chain-records.ts';
import type { AuditEventRecord } from '../db/audit-records.ts';

/** The maximum length of a message, in bytes: what every receiver accepts (RFC 5425 §4.3.1). */
export const maxMessageBytes = 8192;

const facility = 13; // log audit
const severities = { warning: 4, informational: 6 } as const;

/**
 * The id of the structured data. 32473 is the enterprise number for examples (RFC 5612); the project has none.
 */
const dataId = 'tenon@32473';

const maxValueLength = 500;
const maxDetailsLength = 4000;

/**
 * Serializes a sealed event as a syslog message (RFC 5424). It has the ids of users and credentials, but not their names, because a name can't be
 * erased from a log elsewhere. It has no guest keys.
 */
export function toSyslogMessage(
  event: AuditEventRecord,
  { seq, hash }: Pick<AuditLinkRecord, 'seq' | 'hash'>,
  host: string,
): string {
  const { id, atMs, action, appId, accountId, by, userId, viaId, address, targetId, targetName, details } = event;
  const info = auditActions[action];
  const priority = facility * 8 + (action.endsWith('.refuse') ? severities.warning : severities.informational);
  const header = `<${priority}>1 ${new Date(atMs).toISOString()} ${headerField(host, 255)} tenon - ${headerField(action, 32)}`;
  const data = { seq: String(seq), hash, id, by, userId, viaId, address, appId, accountId };
  const target = { targetKind: info.target, targetId, targetName: info.target === 'user' ? null : targetName };
  const parameters = Object.entries({ ...data, ...target })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => parameter(name, cut(String(value), maxValueLength)));
  const text = `${clean(cut(userId ?? `the ${by}`, maxValueLength))} ${info.phrase} ${clean(cut(targetId, maxValueLength))}`;
  const write = (detailsText: string): string =>
    `${header} [${[dataId, ...parameters, parameter('details', detailsText)].join(' ')}] \uFEFF${text}`;
  const whole = write(cut(JSON.stringify(details), maxDetailsLength));
  return Buffer.byteLength(whole) <= maxMessageBytes ? whole : write('');
}

/** Frames a message for a stream with octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3). */
export function frame(message: string): string {
  return `${Buffer.byteLength(message)} ${message}`;
}

/** A field of the header: printable ASCII without spaces, or `-`. */
function headerField(text: string, maxLength: number): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, maxLength) || '-';
}

function parameter(name: string, value: string): string {
  return `${name}="${clean(value).replace(/["\\\]]/g, '\\$&')}"`;
}

/** Replaces control and format characters, line and paragraph separators, and lone surrogates, so that no text forges a line or hides another. */
function clean(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

/** Cuts a text off without splitting a character. */
function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
