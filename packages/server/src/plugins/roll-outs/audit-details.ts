import type { VersionRecord } from '../../db/records.ts';

/** The details that the audit events of all acts on a roll-out have. */
export function rollOutDetails({ id, number }: Pick<VersionRecord, 'id' | 'number'>) {
  return { version: number, versionId: id };
}
