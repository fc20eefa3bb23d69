import type { Database } from '../../domain/records.ts';

/** A table as it is copied from one store to another. */
export interface CopiedTable {
  readonly name: keyof Database;
  /** The columns of its primary key, in whose order both databases sort alike. */
  readonly key: readonly string[];
  /** What of it is copied, as a subquery; all of it by default. */
  readonly source?: string;
}

/**
 * Of bytes, what versions name: whatever stores some, or deletes some, at this moment does so in the store that is left. The objects
 * keep their generation, also where both stores share them.
 */
const namedBlobs = `
  select address, size, 'present' as state, generation, 0 as "leaseUntilMs", null as "unusedSinceMs"
  from blobs where exists (select 1 from versions where "contentAddress" = address)
`;

/**
 * Every table whose rows are copied: those that others refer to come first. Left out is what is a store's own:
 * the schema's versions, leases, objects to be deleted, who is at work on it, and when its chores were done.
 */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'users', key: ['id'] },
  { name: 'passwords', key: ['userId'] },
  { name: 'sessions', key: ['id'] },
  { name: 'known_browsers', key: ['secretHash'] },
  { name: 'one_time_links', key: ['id'] },
  { name: 'apps', key: ['id'] },
  { name: 'tokens', key: ['id'] },
  { name: 'api_keys', key: ['id'] },
  { name: 'authorization_codes', key: ['codeHash'] },
  { name: 'device_grants', key: ['id'] },
  { name: 'members', key: ['appId', 'userId'] },
  { name: 'extension_points', key: ['id'] },
  { name: 'guests', key: ['id'] },
  { name: 'guest_users', key: ['guestId', 'userId'] },
  { name: 'invitations', key: ['id'] },
  { name: 'plugins', key: ['extensionPointId', 'userId', 'name'] },
  { name: 'versions', key: ['id'] },
  { name: 'version_guests', key: ['versionId', 'guestId'] },
  { name: 'bindings', key: ['extensionPointId', 'guestId', 'name'] },
  { name: 'withdrawals', key: ['extensionPointId', 'userId', 'contentAddress'] },
  { name: 'name_reservations', key: ['extensionPointId', 'guestId', 'name'] },
  { name: 'retired_labels', key: ['extensionPointId', 'userId', 'name', 'semver'] },
  { name: 'blobs', key: ['address'], source: namedBlobs },
  { name: 'audit_events', key: ['id'] },
  { name: 'news_heads', key: ['appId'] },
  { name: 'news', key: ['appId', 'serial'] },
  { name: 'operators', key: ['userId'] },
];
