import { hash } from 'node:crypto';
import { rollOutBuckets, type VersionId } from '@tenon/protocol';

/**
 * Returns the bucket of a guest in the roll-out of a version. The version's id is the salt: a guest keeps its bucket during the roll-out,
 * and other guests are the first ones in the next.
 */
export function rollOutBucket(versionId: VersionId, guestKey: string): number {
  const digest = hash('sha256', versionId + guestKey, 'buffer');
  return digest.readUInt32BE(0) % rollOutBuckets;
}
