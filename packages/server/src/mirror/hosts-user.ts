import type { UserId } from '@tenon/protocol';
import type { UserRecord } from '../db/records.ts';

/**
 * The user of the hosts' tokens at a mirror: a viewer of all mirrored applications. The id is the same on every mirror, so that `tenon admin`
 * can create tokens before the first synchronization.
 */
export const hostsId: UserId = 'usr_00000000000000000000000001';

export function hostsUser(nowMs: number): UserRecord {
  return {
    id: hostsId,
    name: 'Hosts of the mirror',
    email: null,
    createdAtMs: nowMs,
    lastSeenAtMs: 0,
    suspendedAtMs: null,
    deletedAtMs: null,
  };
}
