import type { Database } from './schema.ts';

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
  select address, size, 'present' as state, generation, 0 as lease_until_ms, null as unused_since_ms
  from blobs where exists (select 1 from versions where content_address = address)
`;

/**
 * Every table whose rows are copied: those that others refer to come first. Left out is what is a store's own:
 * the schema's versions, leases, objects to be deleted, who is at work on it, and when its chores were done.
 */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'users', key: ['id'] },
  { name: 'identities', key: ['id'] },
  { name: 'sessions', key: ['id'] },
  { name: 'known_browsers', key: ['secret_hash'] },
  { name: 'one_time_links', key: ['id'] },
  { name: 'apps', key: ['id'] },
  { name: 'tokens', key: ['id'] },
  { name: 'api_keys', key: ['id'] },
  { name: 'authorization_codes', key: ['code_hash'] },
  { name: 'device_grants', key: ['id'] },
  { name: 'members', key: ['app_id', 'user_id'] },
  { name: 'extension_points', key: ['id'] },
  { name: 'guests', key: ['id'] },
  { name: 'guest_users', key: ['guest_id', 'user_id'] },
  { name: 'invitations', key: ['id'] },
  { name: 'plugins', key: ['extension_point_id', 'user_id', 'name'] },
  { name: 'versions', key: ['id'] },
  { name: 'version_guests', key: ['version_id', 'guest_id'] },
  { name: 'bindings', key: ['extension_point_id', 'guest_id', 'name'] },
  { name: 'withdrawals', key: ['extension_point_id', 'user_id', 'content_address'] },
  { name: 'name_reservations', key: ['extension_point_id', 'guest_id', 'name'] },
  { name: 'retired_labels', key: ['extension_point_id', 'user_id', 'name', 'semver'] },
  { name: 'blobs', key: ['address'], source: namedBlobs },
  { name: 'audit_events', key: ['id'] },
  { name: 'news_heads', key: ['app_id'] },
  { name: 'news', key: ['app_id', 'serial'] },
  { name: 'operators', key: ['user_id'] },
];
