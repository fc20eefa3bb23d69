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
  OciDigest,
  OneTimeLinkId,
  PasskeyId,
  ProvenancePolicy,
  ProvenanceState,
  RollOutPlan,
  SessionId,
  TokenId,
  TokenScope,
  TrustRuleId,
  UserId,
  Verdict,
  VersionId,
  VersionState,
} from '@tenon/protocol';
import type { Generated } from 'kysely';
import type {
  AttestationRecord,
  AttestationWithBundle,
  SigningKeyRecord,
  StoredSigningKey,
} from './attestation-records.ts';
import type { AuditLinkRecord, AuditPositionRecord } from './audit-chain-records.ts';
import type { AccountAuditEvent, AuditCredentialId, AuditEventRecord } from './audit-records.ts';
import type { BlobDeletion, BlobRecord, LeaseRecord } from './blob-records.ts';
import type { CallReportRecord } from './call-report-records.ts';
import type { ChangeEventRecord, ChangePosition } from './change-records.ts';
import type {
  GrantedMembershipRecord,
  IdentityRecord,
  ProviderSignInRecord,
  SessionIdentityRecord,
} from './identity-records.ts';
import type { MailedCodeRecord, MailPreferencesRecord, MailRecord } from './mail-records.ts';
import type { MirroredAppRecord, MirrorRecord } from './mirror-records.ts';
import type { MaintenanceRunRecord, NodeRecord, OperatorRecord } from './node-records.ts';
import type { OciChunkRecord, OciImageRecord, OciUploadRecord } from './oci-records.ts';
import type { PackagePart, PackageRecord } from './package-records.ts';
import type {
  PasskeyChallengeRecord,
  PasskeyRecord,
  PendingSignInRecord,
  RecoveryCodeRecord,
} from './passkey-records.ts';
import type { QuotaOverrideRecord, QuotaWarningRecord } from './quota-records.ts';
import type { RollOutRecord } from './roll-out-records.ts';
import type { SimulationRecord } from './simulation-records.ts';
import type { SimulationRunRecord } from './simulation-run-records.ts';
import type { TokenOrigin, TrustRuleRecord, UsedIdTokenRecord } from './trust-records.ts';
import type { UsageDayRecord, UsageSubjectRecord, UsageWriterRecord } from './usage-records.ts';
import type { WebhookDeliveryRecord, WebhookRecord, WebhookSecretRecord } from './webhook-records.ts';

/* The fields of each record are the columns of its table. Times are in milliseconds since the Unix epoch. */

export interface UserRecord {
  readonly id: UserId;
  readonly name: string;
  /** Normalized, and unique. */
  readonly email: string | null;
  readonly createdAtMs: number;
  /** The last hour in which a session, token or key of the user was used; 0 if none was. */
  readonly lastSeenAtMs: number;
  /** Set while an operator suspends the user, whose sign-ins, tokens and keys are refused. */
  readonly suspendedAtMs: number | null;
  /** When the account was deleted. Only its name is kept, for lists of its former actions. */
  readonly deletedAtMs: number | null;
}

export interface PasswordRecord {
  readonly userId: UserId;
  /** In PHC string form. */
  readonly hash: string;
  readonly updatedAtMs: number;
}

/** A browser in which a user is signed in. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly userId: UserId;
  readonly secretHash: string;
  readonly userAgent: string | null;
  readonly address: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  /** When the user last proved to be present, with a passkey or the password. */
  readonly confirmedAtMs: number;
  /** The passkey that was last used in the session; `null` if none was. */
  readonly passkeyId: PasskeyId | null;
}

/** A browser in which the user has signed in before. It has its own limit of failed sign-ins. */
export interface KnownBrowserRecord {
  readonly secretHash: string;
  readonly userId: UserId;
  readonly createdAtMs: number;
}

export type OneTimeLinkPurpose = 'set_up' | 'reset_password';

/** A link from the operator that creates an account or resets a password. */
export interface OneTimeLinkRecord {
  readonly id: OneTimeLinkId;
  readonly purpose: OneTimeLinkPurpose;
  readonly codeHash: string;
  /** The user whose password is reset; `null` for a new account. */
  readonly userId: UserId | null;
  /** Whether the link works only while there is no account. */
  readonly isForFirstUser: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

/** A code of the authorization code grant (RFC 6749 §4.1). */
export interface AuthorizationCodeRecord {
  readonly codeHash: string;
  readonly userId: UserId;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly scopes: readonly TokenScope[];
  readonly deviceName: string | null;
  /** The session that approved the request. The code works only until the session ends. */
  readonly sessionId: SessionId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The token that was issued for it. A second use of the code revokes the token (RFC 6749 §4.1.2). */
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
  /** The requested scopes; after the approval, the granted ones. */
  readonly scopes: readonly TokenScope[];
  readonly deviceName: string | null;
  readonly address: string;
  readonly status: DeviceGrantStatus;
  /** The user who approved. */
  readonly userId: UserId | null;
  /** The session that approved. The grant works only until the session ends. */
  readonly sessionId: SessionId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface AppRecord {
  readonly id: AppId;
  readonly name: string;
  /** Whether its members need a passkey. */
  readonly requiresPasskey: boolean;
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
  /** Whether a new version is bound only after the application's team has approved it. */
  readonly requiresApproval: boolean;
  readonly limits: ExtensionPointLimits;
  readonly provenance: ProvenancePolicy;
  /** Grows with each change of the simulations. */
  readonly simulationsRevision: number;
  /** How old a new version is before it is bound without a decision of the team. */
  readonly minVersionAgeSeconds: number;
  /** How new versions reach the guests; `null`: all at once. */
  readonly rollOut: RollOutPlan | null;
  /** When the newest state that was imported last changed at its server, by the id of the extension point there. */
  readonly imports: Readonly<Record<string, number>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The fields that an update sets. */
export type ExtensionPointChange = Omit<ExtensionPointRecord, 'id' | 'appId' | 'simulationsRevision' | 'createdAtMs'>;

/** The default limits of an extension point. */
export const noLimits: ExtensionPointLimits = {
  maxModuleBytes: null,
  maxInitialMemoryPages: null,
  proposals: null,
  allowWasi: true,
};

/** A guest of an application, without the team's note, which the users of the guest never see. */
export interface HeldGuest {
  readonly id: GuestId;
  readonly appId: AppId;
  readonly guestKey: string;
  /** The team's text for the users of the guest. */
  readonly label: string | null;
  readonly createdAtMs: number;
}

export interface GuestRecord extends HeldGuest {
  /** The team's text for itself. */
  readonly note: string | null;
  /** The group of guests that steps of roll-outs name. */
  readonly ring: string | null;
}

/** A user who holds a guest. */
export interface GuestUserRecord {
  readonly guestId: GuestId;
  readonly userId: UserId;
  readonly acceptedAtMs: number;
}

/** The stored states of an invitation. It is also `expired` if a pending one is past `expiresAtMs`. */
export type StoredInvitationStatus = 'pending' | 'accepted' | 'declined' | 'revoked';

export interface InvitationRecord {
  readonly id: InvitationId;
  readonly appId: AppId;
  /** The assigned guest; `null` for an invitation to the team. */
  readonly guestId: GuestId | null;
  /** The role on the team; `null` for an invitation of a guest. */
  readonly role: MemberRole | null;
  readonly codeHash: string;
  readonly status: StoredInvitationStatus;
  readonly email: string | null;
  readonly name: string | null;
  readonly createdBy: UserId;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly settledAtMs: number | null;
  /** The account that was created with the invitation, at most one. */
  readonly signedUpUserId: UserId | null;
}

/** Identifies a plugin: what a user publishes under a name for an extension point. */
export interface PluginKey {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly name: string;
}

/** A plugin with its newest version, in any state. */
export interface PluginRecord extends PluginKey {
  readonly createdAtMs: number;
  readonly newest: VersionRecord;
  /** Set while the application's team blocks the plugin. */
  readonly block: BlockRecord | null;
  /** Set while the application's team blocks the publisher. */
  readonly publisherBlock: BlockRecord | null;
  readonly description: string | null;
  readonly homepage: string | null;
}

export interface BlockRecord {
  readonly atMs: number;
  readonly reason: string;
  /** Whether the actor was authenticated recently enough. Default: `true`. */
  readonly isConfirmed?: boolean;
}

/** The two roles with rights on a plugin: its publisher, and the application's team. */
export type PluginRole = 'publisher' | 'host';

/** A version's state, with its time and reason. */
export interface VersionDecision {
  readonly state: VersionState;
  readonly stateReason: string | null;
  readonly stateAtMs: number;
  /** The role that decided it; `null` for the initial state. */
  readonly stateRole: PluginRole | null;
}

/** Bytes that an application's team has withdrawn, for all plugins of a publisher, also after the plugin is deleted. */
export interface WithdrawalRecord {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly contentAddress: ContentAddress;
  /** The plugin's name when the bytes were withdrawn. */
  readonly name: string;
  /** `rejected` bytes can be published again, and then await approval; others can't be published. */
  readonly state: 'yanked' | 'rejected' | 'blocked';
  readonly reason: string | null;
  /** The time of the decision; for a deleted plugin, of the deletion. */
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
  /** The result of its simulations; `null` until there is one. */
  readonly verdict: Verdict | null;
  /** When it has the minimum age of its extension point at the time of the publish; `null` without one. */
  readonly releaseAtMs: number | null;
  /** The digest of the OCI manifest that was pushed; `null` for a version with a computed one. */
  readonly manifestDigest: OciDigest | null;
  /** The best state of its provenance. */
  readonly provenance: ProvenanceState;
}

/** A plugin's binding under a guest. It reserves the plugin's name, which is unique per extension point and guest. */
export interface BindingRecord extends PluginKey {
  readonly guestId: GuestId;
  /** The bound version; `null` if none is bound at the moment. */
  readonly versionId: VersionId | null;
  readonly versionNumber: number | null;
  readonly contentAddress: ContentAddress | null;
  /** The version to which the application's team has pinned it. */
  readonly pinnedVersionId: VersionId | null;
  readonly pinnedNumber: number | null;
  /** The version to which the publisher has rolled back; `null` if the binding follows the newest. */
  readonly selectedVersionId: VersionId | null;
  readonly selectedNumber: number | null;
  /** When the bound version last changed. */
  readonly updatedAtMs: number;
}

/** A binding with a bound version: an entry of a binding list. */
export interface BoundRecord extends BindingRecord {
  readonly versionId: VersionId;
  readonly versionNumber: number;
  readonly contentAddress: ContentAddress;
}

export interface TokenRecord extends TokenOrigin {
  readonly id: TokenId;
  readonly userId: UserId;
  readonly name: string;
  readonly secretHash: string;
  readonly scopes: readonly TokenScope[];
  readonly appId: AppId | null;
  /** The console's session, which the token ends with; `null` for a token of a program. */
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
  /** The token that created the key, which ends with it; `null` for a key from a browser or the operator. */
  readonly tokenId: TokenId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** A change of rollbacks, under the guests under which a version was published. */
export interface SelectionChange {
  /**
   * Rolls back to the version; ends the rollbacks to earlier versions; ends only those of them that were made before the version was
   * published; or makes all of them count as made before, so that the roll-out of the version reaches them.
   */
  readonly kind: 'select' | 'end_before' | 'end_earlier' | 'date_before';
  readonly version: Pick<VersionRecord, 'id' | 'number'>;
}

/** A recomputation of a plugin's bindings that continues in further transactions. */
export interface PendingRebind {
  /** The id of the last completed guest; empty at the start. */
  readonly after: string;
  readonly selection: SelectionChange | null;
}

interface Deletable {
  /** When it was marked as deleted. Further transactions delete its rows. */
  readonly deletedAtMs: number | null;
}

/** A column for the order of a list. */
interface Sortable {
  /** The {@link naturalKey} of the key or name. */
  readonly sortKey: string;
}

interface PluginRow extends PluginKey, Deletable, Sortable {
  /** The extension point's application, for an index. */
  readonly appId: AppId;
  /** The number of the newest version. */
  readonly lastNumber: number;
  /** The total size of its versions and their attached attestations. */
  readonly bytes: number;
  /** The state of the rate limit for publishes (GCRA); 0 without a publish. */
  readonly publishChargedUntilMs: number;
  readonly createdAtMs: number;
  readonly block: BlockRecord | null;
  readonly description: string | null;
  readonly homepage: string | null;
  /** Last, because it is large: SQLite reads a row up to the last requested column. */
  readonly readme: string | null;
  readonly pendingRebind: PendingRebind | null;
}

interface VersionRow extends VersionRecord {
  /** The extension point's application, for an index. */
  readonly appId: AppId;
  /** The exports, imports and proposals of the module, as JSON; `null` if that is too large. */
  readonly interfaceJson: string | null;
  /** The token or session that published it; `null` for versions of earlier releases. */
  readonly credentialId: AuditCredentialId | null;
  /** The rule of trusted publishing that issued the token; `null` for other credentials. */
  readonly trustRuleId: TrustRuleId | null;
  /** The total size of the attached attestations and of the pushed image. */
  readonly attestationBytes: number;
}

/** A publisher whom an application's team has blocked, with all plugins. */
export interface BlockedPublisherRecord {
  readonly appId: AppId;
  readonly userId: UserId;
  readonly block: BlockRecord;
}

/** A plugin of another publisher with a similar name, when the plugin was first published. */
interface SimilarNameRow extends PluginKey {
  readonly otherUserId: UserId;
  readonly otherName: string;
}

interface BindingRow
  extends Omit<BindingRecord, 'versionNumber' | 'contentAddress' | 'pinnedNumber' | 'selectedNumber'> {
  /** The number of the plugin's newest version when it was rolled back. */
  readonly selectedAtNumber: number | null;
}

/** A semantic version of a deleted plugin, which can't be reused until a time. */
interface RetiredLabelRow extends PluginKey {
  readonly semver: string;
  readonly untilMs: number;
}

/** The use of a token or a key, apart from its record, so that a request reads none of it. */
interface CredentialUse {
  readonly lastUsedAddress: string | null;
  /** The networks that it was used from, the newest first. */
  readonly usedNetworks: readonly string[] | null;
  /** When its user was warned that it expires. */
  readonly expiryWarnedAtMs: number | null;
}

/** The state of the rate limit for simulations (GCRA); `null` without a simulation. */
interface SimulationCharge {
  readonly simulationsChargedUntilMs: number | null;
}

/** The tables. Some have columns that only queries use, in addition to those of the record. */
export interface Database {
  users: UserRecord &
    SimulationCharge & { readonly publishChargedUntilMs: number; readonly mailsChargedUntilMs: number };
  passwords: PasswordRecord;
  sessions: SessionRecord & Pick<CredentialUse, 'lastUsedAddress'>;
  known_browsers: KnownBrowserRecord;
  one_time_links: OneTimeLinkRecord;
  authorization_codes: AuthorizationCodeRecord;
  device_grants: DeviceGrantRecord;
  apps: AppRecord & Deletable & SimulationCharge;
  members: MemberRecord;
  extension_points: ExtensionPointRecord & Deletable & { readonly bindingsDeletedAtMs: Generated<number> };
  guests: GuestRecord & Sortable;
  guest_users: GuestUserRecord;
  invitations: InvitationRecord;
  plugins: PluginRow;
  versions: VersionRow;
  version_guests: { readonly versionId: VersionId; readonly guestId: GuestId };
  bindings: BindingRow;
  withdrawals: WithdrawalRecord;
  name_reservations: PluginKey & { readonly guestId: GuestId; readonly untilMs: number };
  reserved_semvers: RetiredLabelRow;
  tokens: TokenRecord & CredentialUse;
  trust_rules: TrustRuleRecord;
  used_id_tokens: UsedIdTokenRecord;
  api_keys: ApiKeyRecord & CredentialUse;
  blobs: BlobRecord;
  blob_deletions: BlobDeletion;
  leases: LeaseRecord;
  /** `isSealed`: whether the hash chain contains the event; `null` if not yet. */
  audit_events: AuditEventRecord & { readonly isSealed: Generated<boolean | null> };
  audit_links: AuditLinkRecord;
  audit_positions: AuditPositionRecord;
  change_heads: ChangePosition & { readonly appId: AppId };
  change_events: ChangeEventRecord;
  operators: OperatorRecord;
  nodes: NodeRecord & { readonly lastSeenAtMs: number };
  maintenance_runs: MaintenanceRunRecord;
  packages: PackageRecord;
  package_parts: PackagePart;
  usage_subjects: UsageSubjectRecord;
  usage_days: UsageDayRecord;
  usage_writers: UsageWriterRecord;
  simulations: SimulationRecord;
  /** The application and the size of the reports are for an index. */
  simulation_runs: SimulationRunRecord & { readonly appId: AppId | null; readonly reportBytes: number | null };
  blocked_publishers: BlockedPublisherRecord;
  similar_names: SimilarNameRow;
  mails: MailRecord;
  mailed_codes: MailedCodeRecord;
  mail_preferences: MailPreferencesRecord;
  quota_overrides: QuotaOverrideRecord;
  quota_warnings: QuotaWarningRecord;
  signing_keys: StoredSigningKey;
  attestations: AttestationWithBundle;
  passkeys: PasskeyRecord;
  recovery_codes: RecoveryCodeRecord;
  pending_sign_ins: PendingSignInRecord;
  passkey_challenges: PasskeyChallengeRecord;
  identities: IdentityRecord;
  session_identities: SessionIdentityRecord;
  provider_sign_ins: ProviderSignInRecord;
  logout_tokens: { readonly tokenHash: string; readonly expiresAtMs: number };
  granted_memberships: GrantedMembershipRecord;
  granted_operators: { readonly userId: UserId; readonly providerId: string };
  webhooks: WebhookRecord;
  webhook_secrets: WebhookSecretRecord;
  webhook_deliveries: WebhookDeliveryRecord;
  oci_uploads: OciUploadRecord;
  oci_chunks: OciChunkRecord;
  oci_images: OciImageRecord;
  roll_outs: RollOutRecord;
  call_reports: CallReportRecord;
  mirror_states: MirrorRecord;
  mirrored_apps: MirroredAppRecord;
}

/** The words of a text, separated by single spaces. */
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Checks at compile time that the columns are the fields of a record. @returns the columns, qualified with the table's name */
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

/** The columns of each record. Queries don't use `*`: in PostgreSQL, a prepared `select *` fails once a newer release adds a column. */
export const columns = {
  quotaOverrides: columnsOf<QuotaOverrideRecord>()('quota_overrides', [
    'subjectId name userId appId value updatedAtMs',
  ]),
  quotaWarnings: columnsOf<QuotaWarningRecord>()('quota_warnings', ['subjectId name userId appId percent warnedAtMs']),
  identities: columnsOf<IdentityRecord>()('identities', [
    'id userId providerId issuer subject email createdAtMs lastUsedAtMs',
  ]),
  sessionIdentities: columnsOf<SessionIdentityRecord>()('session_identities', ['sessionId identityId sid idToken']),
  providerSignIns: columnsOf<ProviderSignInRecord>()('provider_sign_ins', [
    'stateHash browserHash providerId purpose sessionId invitationHash linkHash createdAtMs expiresAtMs',
    'usedAtMs',
  ]),
  grantedMemberships: columnsOf<GrantedMembershipRecord>()('granted_memberships', ['userId providerId appId role']),
  mailedCodes: columnsOf<MailedCodeRecord>()('mailed_codes', [
    'codeHash purpose recipient userId invitationId notice expiresAtMs',
  ]),
  mailPreferences: columnsOf<MailPreferencesRecord>()('mail_preferences', ['userId verifiedEmail muted']),
  mails: columnsOf<MailRecord>()('mails', [
    'id kind recipient userId invitationId appId facts state attempts createdAtMs dueAtMs error',
  ]),
  simulations: columnsOf<SimulationRecord>()('simulations', [
    'id extensionPointId name revision testModule testModuleSize mockHost mockHostSize mockInputBase64 fixturesJson',
    'bytes createdAtMs updatedAtMs',
  ]),
  simulationRuns: columnsOf<SimulationRunRecord>()('simulation_runs', [
    'id versionId userId state verdict detail attempts createdAtMs dueAtMs startedAtMs reportsJson',
  ]),
  packages: columnsOf<PackageRecord>()('packages', ['file name version size integrity createdAtMs']),
  usageSubjects: columnsOf<UsageSubjectRecord>()('usage_subjects', [
    'id appId extensionPointId userId name versionId guestId listedAtMs fetchedAtMs reportedAtMs',
  ]),
  usageDays: columnsOf<UsageDayRecord>()('usage_days', [
    'subjectId dayMs listRequests contentFetches loadReports detail',
  ]),
  users: columnsOf<UserRecord>()('users', ['id name email createdAtMs lastSeenAtMs suspendedAtMs deletedAtMs']),
  passwords: columnsOf<PasswordRecord>()('passwords', ['userId hash updatedAtMs']),
  sessions: columnsOf<SessionRecord>()('sessions', [
    'id userId secretHash userAgent address createdAtMs lastUsedAtMs expiresAtMs confirmedAtMs passkeyId',
  ]),
  passkeys: columnsOf<PasskeyRecord>()('passkeys', [
    'id userId name credentialId publicKey counter transports createdAtMs lastUsedAtMs',
  ]),
  pendingSignIns: columnsOf<PendingSignInRecord>()('pending_sign_ins', ['secretHash userId attempts expiresAtMs']),
  passkeyChallenges: columnsOf<PasskeyChallengeRecord>()('passkey_challenges', [
    'challenge purpose holder userId expiresAtMs',
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
  apps: columnsOf<AppRecord>()('apps', ['id name requiresPasskey createdAtMs updatedAtMs']),
  members: columnsOf<MemberRecord>()('members', ['appId userId role createdAtMs']),
  extensionPoints: columnsOf<ExtensionPointRecord>()('extension_points', [
    'id appId name schemaJson requiresApproval limits provenance simulationsRevision minVersionAgeSeconds rollOut',
    'imports createdAtMs updatedAtMs',
  ]),
  guests: columnsOf<GuestRecord>()('guests', ['id appId guestKey label note ring createdAtMs']),
  heldGuests: columnsOf<HeldGuest>()('guests', ['id appId guestKey label createdAtMs']),
  guestUsers: columnsOf<GuestUserRecord>()('guest_users', ['guestId userId acceptedAtMs']),
  invitations: columnsOf<InvitationRecord>()('invitations', [
    'id appId guestId role codeHash status email name createdBy createdAtMs expiresAtMs settledAtMs',
    'signedUpUserId',
  ]),
  versions: columnsOf<VersionRecord>()('versions', [
    'extensionPointId userId name id number contentAddress size semver note createdAtMs state stateReason',
    'stateAtMs stateRole verdict releaseAtMs provenance manifestDigest',
  ]),
  bindings: columnsOf<Omit<BindingRow, 'selectedAtNumber'>>()('bindings', [
    'extensionPointId userId name guestId versionId pinnedVersionId selectedVersionId updatedAtMs',
  ]),
  withdrawals: columnsOf<WithdrawalRecord>()('withdrawals', [
    'extensionPointId userId contentAddress name state reason atMs',
  ]),
  tokens: columnsOf<TokenRecord>()('tokens', [
    'id userId name secretHash scopes appId sessionId createdAtMs expiresAtMs lastUsedAtMs',
    'extensionPointId pluginName guestId networks trustRuleId claims',
  ]),
  trustRules: columnsOf<TrustRuleRecord>()('trust_rules', [
    'id userId appId extensionPointId pluginName guestId provider issuer claims createdAtMs lastUsedAtMs',
  ]),
  apiKeys: columnsOf<ApiKeyRecord>()('api_keys', [
    'id userId name secretHash tokenId createdAtMs expiresAtMs lastUsedAtMs',
  ]),
  blobs: columnsOf<BlobRecord>()('blobs', ['address size state generation leaseUntilMs unusedSinceMs']),
  accountAudit: columnsOf<AccountAuditEvent>()('audit_events', [
    'id atMs action appId accountId by userId userName viaId viaName address targetId targetName details',
  ]),
  signingKeys: columnsOf<SigningKeyRecord>()('signing_keys', [
    'id origin publicKeyPem validFromMs validUntilMs revokedAtMs',
  ]),
  attestations: columnsOf<AttestationRecord>()('attestations', [
    'id versionId kind predicateType state detail signer size digest userId createdAtMs',
  ]),
  auditLinks: columnsOf<AuditLinkRecord>()('audit_links', [
    'seq eventId sealedAtMs subjectId body bodySalt marks person personSalt target targetSalt guests guestsSalt hash',
  ]),
  webhooks: columnsOf<WebhookRecord>()('webhooks', [
    'id appId url description actions state afterSeq failingSinceMs notBeforeMs createdAtMs updatedAtMs',
  ]),
  webhookSecrets: columnsOf<WebhookSecretRecord>()('webhook_secrets', ['id webhookId secret createdAtMs expiresAtMs']),
  webhookDeliveries: columnsOf<WebhookDeliveryRecord>()('webhook_deliveries', [
    'id webhookId eventId type state attempts createdAtMs dueAtMs attemptedAtMs durationMs status error response',
  ]),
  ociUploads: columnsOf<OciUploadRecord>()('oci_uploads', [
    'id extensionPointId userId name size contentAddress expiresAtMs',
  ]),
  ociChunks: columnsOf<OciChunkRecord>()('oci_chunks', ['uploadId startByte size contentAddress']),
  ociImages: columnsOf<OciImageRecord>()('oci_images', ['versionId configDigest configType manifest config']),
  callReports: columnsOf<CallReportRecord>()('call_reports', [
    'versionId series kind fromMs calls errors durations memoryBytes',
  ]),
  rollOuts: columnsOf<RollOutRecord>()('roll_outs', [
    'versionId extensionPointId userId name appId state plan step reason createdAtMs stepAtMs updatedAtMs dueAtMs endedAtMs',
  ]),
  mirrors: columnsOf<MirrorRecord>()('mirror_states', [
    'source state detail equalAtMs completedAtMs lists missingLists missingContents',
  ]),
  changes: columnsOf<ChangeEventRecord>()('change_events', [
    'appId serial mark atMs extensionPointId guestKey userId pluginName',
  ]),
} as const;
