import type { SessionId } from '@tenon/protocol';
import type { SessionRecord } from '../records.ts';
import type { AuditUserActor } from './record.ts';

/** Who acts in a browser, as the audit trail names them. */
export function sessionActor({ userId, id }: Pick<SessionRecord, 'userId' | 'id'>): AuditUserActor {
  return { userId, sessionId: id };
}

/** A session as what is done to. */
export function sessionTarget({ id, userAgent }: SessionRecord): {
  readonly id: SessionId;
  readonly name: string | null;
} {
  return { id, name: userAgent };
}
