import { hash as digest } from 'node:crypto';
import type { AuditLinkRecord, AuditPosition } from '../db/audit-chain-records.ts';
import type { AuditEventRecord } from '../db/audit-records.ts';
import type { RandomBytes } from '../db/store.ts';

/*
 * The format of the hash chain over audit events. `docs/reference/audit.md` describes it, so that others can verify it.
 */

/** The fields that are never erased while the event exists. */
export const bodyFields = [
  'id',
  'atMs',
  'action',
  'appId',
  'accountId',
  'by',
  'userId',
  'viaId',
  'targetId',
  'details',
] as const satisfies readonly (keyof AuditEventRecord)[];

/** The fields that are erased together. */
export const erasableParts = {
  person: ['userName', 'viaName', 'address'],
  target: ['targetName'],
  guests: ['guestKeys'],
} as const satisfies Readonly<Record<string, readonly (keyof AuditEventRecord)[]>>;

export type ErasablePart = keyof typeof erasableParts;

/** The position before the first event. */
export const chainStart: AuditPosition = { seq: 0, hash: '' };

const saltBytes = 16;
const markLength = 6;

/** Seals an event: returns the link that follows the given position. */
export function sealEvent(
  event: AuditEventRecord,
  previous: AuditPosition,
  sealedAtMs: number,
  random: RandomBytes,
): AuditLinkRecord {
  const salt = (): string => Buffer.from(random(saltBytes)).toString('base64url');
  const part = (name: ErasablePart) => {
    if (isEmptyPart(event, name)) return [null, null] as const;
    const partSalt = salt();
    return [digestOfPart(event, name, partSalt), partSalt] as const;
  };
  const bodySalt = salt();
  const [[person, personSalt], [target, targetSalt], [guests, guestsSalt]] = [
    part('person'),
    part('target'),
    part('guests'),
  ];
  const link = {
    seq: previous.seq + 1,
    eventId: event.id,
    sealedAtMs,
    subjectId: event.appId === null ? event.accountId : null,
    body: digestOfBody(event, bodySalt),
    bodySalt,
    marks: marksOf(event, bodySalt),
    person,
    personSalt,
    target,
    targetSalt,
    guests,
    guestsSalt,
  };
  return { ...link, hash: hashOfLink(link, previous.hash) };
}

export function hashOfLink(link: Omit<AuditLinkRecord, 'hash'>, previousHash: string): string {
  const { seq, eventId, sealedAtMs, subjectId, body, marks, person, target, guests } = link;
  return sha256(
    JSON.stringify([previousHash, seq, eventId, sealedAtMs, subjectId, body, marks, person, target, guests]),
  );
}

export function digestOfBody(event: AuditEventRecord, salt: string): string {
  return digestOf(
    bodyFields.map((field) => event[field]),
    salt,
  );
}

export function digestOfPart(event: AuditEventRecord, part: ErasablePart, salt: string): string {
  return digestOf(
    erasableParts[part].map((field) => event[field]),
    salt,
  );
}

export function isEmptyPart(event: AuditEventRecord, part: ErasablePart): boolean {
  return erasableParts[part].every((field) => event[field] === null);
}

/** Returns the fields of the body that differ from their marks. */
export function changedBodyFields(event: AuditEventRecord, { marks }: AuditLinkRecord, salt: string): string[] {
  const found = marksOf(event, salt);
  const at = (index: number) => [index * markLength, (index + 1) * markLength] as const;
  return bodyFields.filter((_, index) => found.slice(...at(index)) !== marks.slice(...at(index)));
}

function marksOf(event: AuditEventRecord, salt: string): string {
  return bodyFields.map((field) => digestOf([field, event[field]], salt).slice(0, markLength)).join('');
}

function digestOf(values: readonly unknown[], salt: string): string {
  return sha256(`${salt}\n${canonicalJson(values)}`);
}

function sha256(text: string): string {
  return digest('sha256', text, 'base64url');
}

/** Serializes a value as JSON with the keys of objects in the order of their code units, because databases may change the order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
