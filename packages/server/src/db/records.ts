import type {
  ApiKeyId,
  AppId,
  ContentAddress,
  DeviceGrantId,
  ExtensionPointId,
  ExtensionPointLimits,
  GuestId,
  InvitationId,
  MemberRole,
  OneTimeLinkId,
  SessionId,
  TokenId,
  TokenScope,
  UserId,
  VersionId,
  VersionState,
} from '@tenon/protocol';
import type { AccountAuditEvent, AuditEventRecord } from './audit-records.ts';
import type { BlobDeletion, BlobRecord, LeaseRecord } from './blob-records.ts';
import type { ChangeEventRecord, ChangePosition } from './change-records.ts';
import type { MaintenanceRunRecord, NodeRecord, OperatorRecord } from './node-records.ts';

/** What the store keeps: each record's fields are the columns of its table. Times are milliseconds since the Unix epoch; texts are as the user sent them. */

export interface UserRecord {
  readonly id: UserId;
  readonly name: string;
  /** In its normal form; no other user has the same. */
  readonly email: string | null;
  readonly createdAtMs: number;
  /** When the account was deleted. What is left of it then is a name under which others' lists show what it once did. */
  readonly deletedAtMs: number | null;
}

/** The password of a user, who signs in with it and the e-mail address. */
export interface PasswordRecord {
  readonly userId: UserId;
  /** In PHC string form. */
  readonly hash: string;
  readonly updatedAtMs: number;
}

/** A browser in which somebody is signed in. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly userId: UserId;
  readonly secretHash: string;
  readonly userAgent: string | null;
  readonly address: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  /** When the password was last entered in it. */
  readonly confirmedAtMs: number;
}

/** A browser in which the user has signed in before: guesses by others don't count against it. It holds a secret of its own. */
export interface KnownBrowserRecord {
  readonly secretHash: string;
  readonly userId: UserId;
  readonly createdAtMs: number;
}

export type OneTimeLinkPurpose = 'set_up' | 'reset_password';

/** A link that the operator hands out: to make an account, or to set a password anew. */
export interface OneTimeLinkRecord {
  readonly id: OneTimeLinkId;
  readonly purpose: OneTimeLinkPurpose;
  readonly codeHash: string;
  /** Whose password is set anew; `null` for a new account. */
  readonly userId: UserId | null;
  /** Whether it is for the first account alone: it does not work any more once there is one. */
  readonly isForFirstUser: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

/** A code of the authorization code grant (RFC 6749 §4.1): what a person has approved and the program has not fetched yet. */
export interface AuthorizationCodeRecord {
  readonly codeHash: string;
  readonly userId: UserId;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly scopes: readonly TokenScope[];
  readonly deviceName: string | null;
  /** The session that approved it: the code is exchanged only while that session stands. */
  readonly sessionId: SessionId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The token that it was exchanged for: revoked when the code comes a second time (RFC 6749 §4.1.2). */
  readonly tokenId: TokenId | null;
  readonly usedAtMs: number | null;
}

type DeviceGrantStatus = 'pending' | 'approved' | 'denied';

/** A request of the device grant (RFC 8628). */
export interface DeviceGrantRecord {
  readonly id: DeviceGrantId;
  readonly deviceCodeHash: string;
  readonly userCodeHash: string;
  readonly clientId: string;
  /** What is asked for; once approved, what was granted. */
  readonly scopes: readonly TokenScope[];
  readonly deviceName: string | null;
  readonly address: string;
  readonly status: DeviceGrantStatus;
  /** Who approved. */
  readonly userId: UserId | null;
  /** The session that approved: the grant is redeemed only while that session stands. */
  readonly sessionId: SessionId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface AppRecord {
  readonly id: AppId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface MemberRecord {
  readonly appId: AppId;
  readonly userId: UserId;
  readonly role: MemberRole;
  readonly createdAtMs: number;
}

export interface ExtensionPointRecord {
  readonly id: ExtensionPointId;
  readonly appId: AppId;
  readonly name: string;
  /** The schema as canonical JSON text: an object whose `exports` is a map. */
  readonly schemaJson: string;
  /** Whether a new version is bound only once the application's team has approved it. */
  readonly requiresApproval: boolean;
  readonly limits: ExtensionPointLimits;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What an update of an extension point sets. */
export type ExtensionPointChange = Omit<ExtensionPointRecord, 'id' | 'appId' | 'createdAtMs'>;

/** The limits of an extension point that sets none. */
export const noLimits: ExtensionPointLimits = {
  maxModuleBytes: null,
  maxInitialMemoryPages: null,
  proposals: null,
  allowWasi: true,
};

/** One guest key inside one application. */
export interface GuestRecord {
  readonly id: GuestId;
  readonly appId: AppId;
  readonly guestKey: string;
  readonly createdAtMs: number;
}

/** A user who holds a guest. */
export interface GuestUserRecord {
  readonly guestId: GuestId;
  readonly userId: UserId;
  readonly acceptedAtMs: number;
}

/** What is stored of an invitation's state; that it has expired follows from the clock. */
export type StoredInvitationStatus = 'pending' | 'accepted' | 'declined' | 'revoked';

export interface InvitationRecord {
  readonly id: InvitationId;
  readonly appId: AppId;
  /** The guest that it assigns; `null` for an invitation to the team. */
  readonly guestId: GuestId | null;
  /** The role that it gives on the team; `null` for an invitation of a guest. */
  readonly role: MemberRole | null;
  readonly codeHash: string;
  readonly status: StoredInvitationStatus;
  readonly email: string | null;
  readonly name: string | null;
  readonly createdBy: UserId;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly settledAtMs: number | null;
  /** Who made an account by means of it: one invitation makes one account at the most. */
  readonly signedUpUserId: UserId | null;
}

/** A plugin: what one user publishes under one name against one extension point. Its versions hang under it. */
export interface PluginKey {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly name: string;
}

/** A plugin with its newest version, whatever that one's state is. */
export interface PluginRecord extends PluginKey {
  readonly createdAtMs: number;
  readonly newest: VersionRecord;
  /** Set while the application's team has the plugin blocked. */
  readonly block: BlockRecord | null;
}

export interface BlockRecord {
  readonly atMs: number;
  readonly reason: string;
}

/** The two sides between which a plugin stands: who publishes it, and the team of the application that it is published for. */
export type PluginRole = 'publisher' | 'host';

/** What a version's state is, since when, and why. */
export interface VersionDecision {
  readonly state: VersionState;
  readonly stateReason: string | null;
  readonly stateAtMs: number;
  /** Who decided it; `null` where it followed from the publish itself. */
  readonly stateSide: PluginRole | null;
}

/**
 * Bytes that an application's team withdrew from a publisher at an extension point. They stay withdrawn when the plugin is
 * deleted, and under every name of the same publisher.
 */
export interface WithdrawalRecord {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly contentAddress: ContentAddress;
  /** The plugin's name when the bytes were withdrawn. */
  readonly name: string;
  /** `rejected` bytes can be published again, and await approval; others can't be published. */
  readonly state: 'yanked' | 'rejected' | 'blocked';
  readonly reason: string | null;
  /** When the team decided it; for a deleted plugin, when it was deleted. */
  readonly atMs: number;
}

export interface VersionRecord extends PluginKey, VersionDecision {
  readonly id: VersionId;
  readonly number: number;
  readonly contentAddress: ContentAddress;
  readonly size: number;
  readonly semver: string | null;
  readonly note: string | null;
  readonly createdAtMs: number;
}

/**
 * A plugin's claim to its name under a guest: a name is unique per extension point and guest, since A2's object is keyed by
 * name. A version may be bound by it, or none at the moment.
 */
export interface BindingRecord extends PluginKey {
  readonly guestId: GuestId;
  readonly versionId: VersionId | null;
  readonly versionNumber: number | null;
  readonly contentAddress: ContentAddress | null;
  /** The version at which the application's team holds it. */
  readonly pinnedVersionId: VersionId | null;
  readonly pinnedNumber: number | null;
  /** The version that was rolled back to; `null` when the newest is followed. */
  readonly selectedVersionId: VersionId | null;
  readonly selectedNumber: number | null;
  /** When what is bound last changed. */
  readonly updatedAtMs: number;
}

/** A claim by which a version is bound: one entry of A2's answer. */
export interface BoundRecord extends BindingRecord {
  readonly versionId: VersionId;
  readonly versionNumber: number;
  readonly contentAddress: ContentAddress;
}

export interface TokenRecord {
  readonly id: TokenId;
  readonly userId: UserId;
  readonly name: string;
  readonly secretHash: string;
  readonly scopes: readonly TokenScope[];
  readonly appId: AppId | null;
  /** The session whose pages use it, and with which it ends; `null` for a token of a program. */
  readonly sessionId: SessionId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export interface ApiKeyRecord {
  readonly id: ApiKeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly secretHash: string;
  /** The program's token that made it, with which it ends; `null` for a key made in a browser or by the operator. */
  readonly tokenId: TokenId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** What a change does to roll backs, under the guests under which a version was published. */
export interface SelectionChange {
  /** Roll back to the version, or end the roll backs to versions before it. */
  readonly kind: 'select' | 'end_before';
  readonly version: Pick<VersionRecord, 'id' | 'number'>;
}

/** A recomputation of a plugin's bindings that goes on in further transactions. */
export interface PendingRebind {
  /** The id of the last guest that is done; empty at the beginning. */
  readonly after: string;
  readonly selection: SelectionChange | null;
}

/** When it was deleted; its rows go in further transactions. */
interface Deletable {
  readonly deletedAtMs: number | null;
}

interface PluginRow extends PluginKey, Deletable {
  /** The extension point's application, so that one index has what an application holds. */
  readonly appId: AppId;
  /** The number of the newest version. */
  readonly lastNumber: number;
  /** The sum of the sizes of its versions. */
  readonly bytes: number;
  /** Up to when publishes are paid for; 0 for none. */
  readonly publishPaidAtMs: number;
  readonly createdAtMs: number;
  readonly block: BlockRecord | null;
  /** `null` where none is pending. */
  readonly pendingRebind: PendingRebind | null;
}

interface VersionRow extends VersionRecord {
  /** The extension point's application, so that one index has who may read some bytes. */
  readonly appId: AppId;
  /** What the module exports, imports and needs, as JSON; `null` where that is too large. */
  readonly interfaceJson: string | null;
}

type BindingRow = Omit<BindingRecord, 'versionNumber' | 'contentAddress' | 'pinnedNumber' | 'selectedNumber'>;

/** Of a deleted plugin, until a time. */
interface RetiredLabelRow extends PluginKey {
  readonly semver: string;
  readonly untilMs: number;
}

/** The tables, with the columns of their rows: records, and what only queries need to know. */
export interface Database {
  users: UserRecord & { readonly publishPaidAtMs: number };
  passwords: PasswordRecord;
  sessions: SessionRecord;
  known_browsers: KnownBrowserRecord;
  one_time_links: OneTimeLinkRecord;
  authorization_codes: AuthorizationCodeRecord;
  device_grants: DeviceGrantRecord;
  apps: AppRecord & Deletable;
  members: MemberRecord;
  extension_points: ExtensionPointRecord & Deletable;
  guests: GuestRecord;
  guest_users: GuestUserRecord;
  invitations: InvitationRecord;
  plugins: PluginRow;
  versions: VersionRow;
  version_guests: { readonly versionId: VersionId; readonly guestId: GuestId };
  bindings: BindingRow;
  withdrawals: WithdrawalRecord;
  name_reservations: PluginKey & { readonly guestId: GuestId; readonly untilMs: number };
  retired_labels: RetiredLabelRow;
  tokens: TokenRecord;
  api_keys: ApiKeyRecord;
  blobs: BlobRecord;
  blob_deletions: BlobDeletion;
  leases: LeaseRecord;
  audit_events: AuditEventRecord;
  change_heads: ChangePosition & { readonly appId: AppId };
  change_events: ChangeEventRecord;
  operators: OperatorRecord;
  nodes: NodeRecord & { readonly lastSeenAtMs: number };
  maintenance_runs: MaintenanceRunRecord;
}

/** The words of a text, which single spaces separate. */
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Checks that the columns are those of a record. @returns them with the table's name, as queries have them */
function columnsOf<R>() {
  return <T extends keyof Database, const C extends readonly string[]>(
    table: T,
    columns: [keyof R, Words<C[number]>] extends [Words<C[number]>, keyof R]
      ? C
      : readonly [Exclude<keyof R, Words<C[number]>>, 'is missing'],
  ) =>
    columns
      .flatMap((some) => String(some).split(' '))
      .map((column) => `${table}.${column}` as `${T}.${keyof R & string}`);
}

/**
 * The columns of each record. Queries name what they read: a server keeps running while a newer release adds columns, and PostgreSQL
 * refuses a prepared `select *` after that.
 */
export const columns = {
  users: columnsOf<UserRecord>()('users', ['id name email createdAtMs deletedAtMs']),
  passwords: columnsOf<PasswordRecord>()('passwords', ['userId hash updatedAtMs']),
  sessions: columnsOf<SessionRecord>()('sessions', [
    'id userId secretHash userAgent address createdAtMs lastUsedAtMs expiresAtMs confirmedAtMs',
  ]),
  knownBrowsers: columnsOf<KnownBrowserRecord>()('known_browsers', ['secretHash userId createdAtMs']),
  oneTimeLinks: columnsOf<OneTimeLinkRecord>()('one_time_links', [
    'id purpose codeHash userId isForFirstUser createdAtMs expiresAtMs usedAtMs',
  ]),
  authorizationCodes: columnsOf<AuthorizationCodeRecord>()('authorization_codes', [
    'codeHash userId clientId redirectUri codeChallenge scopes deviceName sessionId createdAtMs expiresAtMs',
    'tokenId usedAtMs',
  ]),
  deviceGrants: columnsOf<DeviceGrantRecord>()('device_grants', [
    'id deviceCodeHash userCodeHash clientId scopes deviceName address status userId sessionId createdAtMs',
    'expiresAtMs',
  ]),
  apps: columnsOf<AppRecord>()('apps', ['id name createdAtMs updatedAtMs']),
  members: columnsOf<MemberRecord>()('members', ['appId userId role createdAtMs']),
  extensionPoints: columnsOf<ExtensionPointRecord>()('extension_points', [
    'id appId name schemaJson requiresApproval limits createdAtMs updatedAtMs',
  ]),
  guests: columnsOf<GuestRecord>()('guests', ['id appId guestKey createdAtMs']),
  guestUsers: columnsOf<GuestUserRecord>()('guest_users', ['guestId userId acceptedAtMs']),
  invitations: columnsOf<InvitationRecord>()('invitations', [
    'id appId guestId role codeHash status email name createdBy createdAtMs expiresAtMs settledAtMs',
    'signedUpUserId',
  ]),
  versions: columnsOf<VersionRecord>()('versions', [
    'extensionPointId userId name id number contentAddress size semver note createdAtMs state stateReason',
    'stateAtMs stateSide',
  ]),
  bindings: columnsOf<BindingRow>()('bindings', [
    'extensionPointId userId name guestId versionId pinnedVersionId selectedVersionId updatedAtMs',
  ]),
  withdrawals: columnsOf<WithdrawalRecord>()('withdrawals', [
    'extensionPointId userId contentAddress name state reason atMs',
  ]),
  tokens: columnsOf<TokenRecord>()('tokens', [
    'id userId name secretHash scopes appId sessionId createdAtMs expiresAtMs lastUsedAtMs',
  ]),
  apiKeys: columnsOf<ApiKeyRecord>()('api_keys', [
    'id userId name secretHash tokenId createdAtMs expiresAtMs lastUsedAtMs',
  ]),
  blobs: columnsOf<BlobRecord>()('blobs', ['address size state generation leaseUntilMs unusedSinceMs']),
  accountAudit: columnsOf<AccountAuditEvent>()('audit_events', [
    'id atMs action appId accountId by userId userName viaId viaName address targetId targetName details',
  ]),
  changes: columnsOf<ChangeEventRecord>()('change_events', ['appId serial mark atMs extensionPointId guestKey']),
} as const;
