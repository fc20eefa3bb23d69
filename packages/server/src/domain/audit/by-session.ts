import type { SessionId } from '@tenon/protocol';
import type { SessionRecord } from '../records.ts';
import type { AuditUser } from './record.ts';

/** Who acts in a browser, as the audit trail names them. */
export function bySession({ userId, id }: Pick<SessionRecord, 'userId' | 'id'>): AuditUser {
  return { userId, sessionId: id };
}

/** A session as what is done to. */
export function sessionTarget({ id, userAgent }: SessionRecord): {
  readonly id: SessionId;
  readonly name: string | null;
} {
  return { id, name: userAgent };
}
