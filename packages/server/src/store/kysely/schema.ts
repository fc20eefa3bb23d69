import type {
  ApiKeyId,
  AppId,
  AuditAction,
  AuditAuthor,
  AuditEventId,
  ContentAddress,
  DeviceGrantId,
  ExtensionPointId,
  GuestId,
  IdentityId,
  InvitationId,
  MemberRole,
  OneTimeLinkId,
  ProcessId,
  SessionId,
  TokenId,
  UserId,
  VersionId,
  VersionState,
} from '@tenon/protocol';
import type { Generated, Kysely } from 'kysely';
import type { AuditMeans } from '../../domain/audit/ports.ts';
import type { BlobState, FreezeKind, LeaseKind } from '../../domain/housekeeping/ports.ts';
import type {
  DeviceGrantStatus,
  IdentityKind,
  OneTimeLinkPurpose,
  Side,
  StoredInvitationStatus,
  WithdrawalRecord,
} from '../../domain/records.ts';
import type { ChoreKind } from '../../domain/status/ports.ts';

/**
 * The tables, as the newest migration leaves them. Times are milliseconds since the Unix epoch. Queries name the columns that they read:
 * a server goes on while a newer release adds some, and PostgreSQL would not run a prepared `select *` once it has.
 */
export interface Database {
  users: UsersTable;
  identities: IdentitiesTable;
  sessions: SessionsTable;
  known_browsers: KnownBrowsersTable;
  one_time_links: OneTimeLinksTable;
  authorization_codes: AuthorizationCodesTable;
  device_grants: DeviceGrantsTable;
  apps: AppsTable;
  members: MembersTable;
  extension_points: ExtensionPointsTable;
  guests: GuestsTable;
  guest_users: GuestUsersTable;
  invitations: InvitationsTable;
  plugins: PluginsTable;
  versions: VersionsTable;
  version_guests: VersionGuestsTable;
  bindings: BindingsTable;
  withdrawals: WithdrawalsTable;
  name_reservations: NameReservationsTable;
  retired_labels: RetiredLabelsTable;
  blobs: BlobsTable;
  blob_deletions: BlobDeletionsTable;
  leases: LeasesTable;
  tokens: TokensTable;
  api_keys: ApiKeysTable;
  audit_events: AuditEventsTable;
  news_heads: NewsHeadsTable;
  news: NewsTable;
  operators: OperatorsTable;
  processes: ProcessesTable;
  chores: ChoresTable;
}

/** What queries run on: the database, or a transaction in it. */
export type Db = Kysely<Database>;

interface UsersTable {
  id: UserId;
  name: string;
  email: string | null;
  created_at_ms: number;
  deleted_at_ms: number | null;
  publish_paid_at_ms: Generated<number>;
}

interface IdentitiesTable {
  id: IdentityId;
  user_id: UserId;
  kind: IdentityKind;
  subject: string;
  secret: string;
  created_at_ms: number;
  updated_at_ms: number;
}

interface SessionsTable {
  id: SessionId;
  user_id: UserId;
  secret_hash: string;
  user_agent: string | null;
  address: string;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  confirmed_at_ms: number;
}

interface KnownBrowsersTable {
  secret_hash: string;
  user_id: UserId;
  created_at_ms: number;
}

interface OneTimeLinksTable {
  id: OneTimeLinkId;
  purpose: OneTimeLinkPurpose;
  code_hash: string;
  user_id: UserId | null;
  /** 0 or 1: SQLite has no booleans. */
  is_for_first_user: number;
  created_at_ms: number;
  expires_at_ms: number;
  used_at_ms: number | null;
}

interface AuthorizationCodesTable {
  code_hash: string;
  user_id: UserId;
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  /** With spaces between them, like those of tokens. */
  scopes: string;
  device_name: string | null;
  session_id: SessionId | null;
  created_at_ms: number;
  expires_at_ms: number;
  token_id: TokenId | null;
  used_at_ms: number | null;
}

interface DeviceGrantsTable {
  id: DeviceGrantId;
  device_code_hash: string;
  user_code_hash: string;
  client_id: string;
  /** With spaces between them, like those of tokens. */
  scopes: string;
  device_name: string | null;
  address: string;
  status: DeviceGrantStatus;
  user_id: UserId | null;
  session_id: SessionId | null;
  created_at_ms: number;
  expires_at_ms: number;
}

interface AppsTable {
  id: AppId;
  name: string;
  created_at_ms: number;
  updated_at_ms: number;
  /** When it was deleted; its rows go in further transactions. */
  deleted_at_ms: number | null;
}

interface MembersTable {
  app_id: AppId;
  user_id: UserId;
  role: MemberRole;
  created_at_ms: number;
}

interface ExtensionPointsTable {
  id: ExtensionPointId;
  app_id: AppId;
  name: string;
  schema_json: string;
  /** 0 or 1: SQLite has no booleans. */
  requires_approval: number;
  limits_json: string;
  created_at_ms: number;
  updated_at_ms: number;
  /** When it was deleted; its rows go in further transactions. */
  deleted_at_ms: number | null;
}

interface GuestsTable {
  id: GuestId;
  app_id: AppId;
  guest_key: string;
  created_at_ms: number;
}

interface GuestUsersTable {
  guest_id: GuestId;
  user_id: UserId;
  accepted_at_ms: number;
}

interface InvitationsTable {
  id: InvitationId;
  app_id: AppId;
  guest_id: GuestId | null;
  role: MemberRole | null;
  code_hash: string;
  status: StoredInvitationStatus;
  email: string | null;
  name: string | null;
  created_by: UserId;
  created_at_ms: number;
  expires_at_ms: number;
  settled_at_ms: number | null;
  signed_up_user_id: UserId | null;
}

interface PluginsTable {
  extension_point_id: ExtensionPointId;
  user_id: UserId;
  name: string;
  /** The extension point's application, so that one index tells what an application holds. */
  app_id: AppId;
  /** The number of the newest version. */
  last_number: number;
  /** The sizes of all its versions together. */
  bytes: number;
  publish_paid_at_ms: Generated<number>;
  created_at_ms: number;
  blocked_at_ms: number | null;
  blocked_reason: string | null;
  /** When it was deleted; its rows go in further transactions. */
  deleted_at_ms: number | null;
  /** A recomputation of its bindings that goes on in further transactions; `null` where none is pending. */
  pending_rebind_json: string | null;
}

interface VersionsTable {
  id: VersionId;
  extension_point_id: ExtensionPointId;
  user_id: UserId;
  name: string;
  number: number;
  /** The extension point's application, so that one index tells who may read some bytes. */
  app_id: AppId;
  content_address: ContentAddress;
  size: number;
  created_at_ms: number;
  semver: string | null;
  note: string | null;
  /** What the module exports, imports and needs, as JSON; `null` for versions from before that was kept. */
  interface_json: string | null;
  state: VersionState;
  state_reason: string | null;
  state_at_ms: number;
  state_side: Side | null;
}

/** Under which guests a version was published. */
interface VersionGuestsTable {
  version_id: VersionId;
  guest_id: GuestId;
}

interface BindingsTable {
  extension_point_id: ExtensionPointId;
  guest_id: GuestId;
  name: string;
  user_id: UserId;
  version_id: VersionId | null;
  pinned_version_id: VersionId | null;
  selected_version_id: VersionId | null;
  updated_at_ms: number;
}

/** What deleted plugins left withdrawn. */
interface WithdrawalsTable {
  extension_point_id: ExtensionPointId;
  user_id: UserId;
  content_address: ContentAddress;
  name: string;
  state: WithdrawalRecord['state'];
  reason: string | null;
  at_ms: number;
}

/** The names of deleted plugins, each reserved under a guest. */
interface NameReservationsTable {
  extension_point_id: ExtensionPointId;
  guest_id: GuestId;
  name: string;
  user_id: UserId;
  until_ms: number;
}

/** The semantic versions of deleted plugins. */
interface RetiredLabelsTable {
  extension_point_id: ExtensionPointId;
  user_id: UserId;
  name: string;
  semver: string;
  until_ms: number;
}

interface TokensTable {
  id: TokenId;
  user_id: UserId;
  name: string;
  secret_hash: string;
  /** The scopes with spaces between them, as in RFC 6749 §3.3. */
  scopes: string;
  app_id: AppId | null;
  session_id: SessionId | null;
  created_at_ms: number;
  expires_at_ms: number;
  last_used_at_ms: number | null;
}

interface ApiKeysTable {
  id: ApiKeyId;
  user_id: UserId;
  name: string;
  secret_hash: string;
  token_id: TokenId | null;
  created_at_ms: number;
  expires_at_ms: number;
  last_used_at_ms: number | null;
}

interface BlobsTable {
  address: ContentAddress;
  size: number;
  state: BlobState;
  generation: string;
  lease_until_ms: number;
  unused_since_ms: number | null;
}

interface BlobDeletionsTable {
  address: ContentAddress;
  generation: string;
  size: number;
}

interface LeasesTable {
  kind: LeaseKind | FreezeKind;
  holder: string;
  until_ms: number;
}

interface AuditEventsTable {
  id: AuditEventId;
  at_ms: number;
  action: AuditAction;
  app_id: AppId | null;
  account_id: UserId | null;
  author: AuditAuthor;
  user_id: UserId | null;
  user_name: string | null;
  via_id: AuditMeans | null;
  via_name: string | null;
  address: string | null;
  target_id: string;
  target_name: string | null;
  details_json: string;
  /** Pairs of a guest's id and key; `null` for none, or when the application is gone. */
  guest_keys_json: string | null;
}

/** The newest news of each application that has had any. */
interface NewsHeadsTable {
  app_id: AppId;
  serial: number;
  mark: string;
}

interface NewsTable {
  app_id: AppId;
  serial: number;
  mark: string;
  at_ms: number;
  extension_point_id: ExtensionPointId;
  /** `null` when all lists of the extension point changed, since it is gone. */
  guest_key: string | null;
}

interface OperatorsTable {
  user_id: UserId;
  created_at_ms: number;
}

interface ProcessesTable {
  id: ProcessId;
  node: string;
  pid: number;
  version: string;
  started_at_ms: number;
  /** By the database's clock. */
  last_seen_at_ms: number;
  report_json: string;
}

interface ChoresTable {
  kind: ChoreKind;
  ended_at_ms: number;
  outcome_json: string;
}
