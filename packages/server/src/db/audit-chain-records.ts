import type { AuditEventId, UserId } from '@tenon/protocol';
import type { AuditEventRecord } from './audit-records.ts';

/**
 * A link of the hash chain over audit events. Each part of an event has a digest with a salt of its own. When a part is erased, only
 * its salt is deleted, so that the digest reveals nothing and the chain stays verifiable. A part without a value has no digest.
 */
export interface AuditLinkRecord {
  /** The sequence number, without gaps, from 1. */
  readonly seq: number;
  readonly eventId: AuditEventId;
  readonly sealedAtMs: number;
  /** The account with which the event is deleted; `null` for events of applications and of the operator. */
  readonly subjectId: UserId | null;
  /** The digest of the fields that are never erased while the event exists. */
  readonly body: string;
  readonly bodySalt: string | null;
  /** The beginnings of the digests of these fields, which tell which field was changed. */
  readonly marks: string;
  /** The digest of the names of the user and the credential, and of the address. */
  readonly person: string | null;
  readonly personSalt: string | null;
  /** The digest of the name of the target. */
  readonly target: string | null;
  readonly targetSalt: string | null;
  /** The digest of the guest keys. */
  readonly guests: string | null;
  readonly guestsSalt: string | null;
  /** The digest of this link and of the previous link's hash. */
  readonly hash: string;
}

/** A position in the chain. */
export interface AuditPosition {
  /** 0 before the first event. */
  readonly seq: number;
  readonly hash: string;
}

/**
 * `head`: the newest link. `anchor`: the newest link that audit retention deleted. `syslog`: the newest event that was sent.
 * `webhooks`: the newest event with deliveries in the queue.
 */
export type AuditPositionKind = 'head' | 'anchor' | 'syslog' | 'webhooks';

export interface AuditPositionRecord extends AuditPosition {
  readonly kind: AuditPositionKind;
}

/** A link with its event; the event is `undefined` if there is none. */
export interface LinkedAuditEvent {
  readonly link: AuditLinkRecord;
  readonly event: AuditEventRecord | undefined;
}
