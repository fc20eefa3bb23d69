import type { SessionId } from '@tenon/protocol';
import type { SessionRecord } from '../records.ts';
import type { AuditUserActor } from './record.ts';

/** Returns the user of a browser's session as the actor of an audit event. */
export function sessionActor({ userId, id }: Pick<SessionRecord, 'userId' | 'id'>): AuditUserActor {
  return { userId, sessionId: id };
}

/** Returns a session as the target of an audit event. */
export function sessionTarget({ id, userAgent }: SessionRecord): {
  readonly id: SessionId;
  readonly name: string | null;
} {
  return { id, name: userAgent };
}
