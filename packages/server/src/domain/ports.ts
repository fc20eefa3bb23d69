import type { Mismatch } from '@tenon/extension-schema/interface-check';
import type {
  ApiKeyId,
  AppId,
  BindingFacts,
  ContentAddress,
  DeviceGrantId,
  ExtensionPointId,
  GuestId,
  InvitationId,
  MemberRole,
  OneTimeLinkId,
  SessionId,
  TokenId,
  TokenScope,
  UserId,
  VersionId,
} from '@tenon/protocol';
import type { AuditMutations, AuditQueries } from './audit/ports.ts';
import type { DeletionMutations, DeletionQueries } from './deletions/ports.ts';
import type { BlobKey } from './housekeeping/blob-key.ts';
import type { HousekeepingMutations, HousekeepingQueries, StoreFault } from './housekeeping/ports.ts';
import type { Subject } from './memories/subject.ts';
import type { NewsMutations, NewsQueries } from './news/ports.ts';
import type {
  ApiKeyRecord,
  AppRecord,
  AuthorizationCodeRecord,
  BindingRecord,
  BlockRecord,
  BoundRecord,
  DeviceGrantRecord,
  ExtensionPointRecord,
  GuestRecord,
  GuestUserRecord,
  InvitationRecord,
  KnownBrowserRecord,
  MemberRecord,
  OneTimeLinkRecord,
  PasswordRecord,
  PendingRebind,
  PluginKey,
  PluginRecord,
  SessionRecord,
  StoredInvitationStatus,
  TokenRecord,
  UserRecord,
  VersionDecision,
  VersionRecord,
  WithdrawalRecord,
} from './records.ts';
import type { StatusMutations, StatusQueries, StoreFacts, StoreSizes } from './status/ports.ts';

/** The interfaces between the domain and the world. Every implementation of one passes its contract suite in `test/contracts`. */

/** A stretch of a list: entries whose id is greater than `after`, in the order of their ids, `limit` at the most. */
export interface Page {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** A stretch that has a limit. */
export interface BoundedPage extends Page {
  readonly limit: number;
}

/** A version that awaits approval, with names. */
export type AwaitingVersion = VersionRecord & {
  readonly extensionPointName: string;
  readonly userName: string;
};

/** The times up to which publishes are paid for: what the rates of publishing count by. */
export interface PublishPaid {
  readonly pluginAtMs: number;
  readonly accountAtMs: number;
}

/** Names a plugin's claim under one guest. */
export type Claim = PluginKey & Pick<BindingRecord, 'guestId'>;

/** A plugin's claim under a guest, with what decides what it binds. */
export type ClaimFacts = BindingFacts<VersionId> &
  Pick<BindingRecord, 'guestId' | 'versionId' | 'selectedVersionId' | 'selectedNumber' | 'updatedAtMs'> &
  Pick<GuestRecord, 'guestKey'>;

/** Where claims are moved, and when. */
export interface BindingMove {
  readonly versionId: VersionId | null;
  readonly nowMs: number;
  /** Whether hosts are told of each list; otherwise they are told at the end to ask for all: {@link Mutations.endPendingRebind}. */
  readonly tellsEach: boolean;
}

/** Some of a plugin's claims: those under these guests, or after a guest's id; `limit` at the most. */
export interface ClaimPart {
  readonly guestIds?: readonly GuestId[];
  readonly after?: string;
  readonly limit?: number;
}

/** A guest under which a version was published, or is bound. */
export interface VersionGuest {
  readonly versionId: VersionId;
  readonly guestId: GuestId;
}

/** How many guests of versions are read, and in which order of the versions' ids. */
export interface VersionGuestsCut {
  readonly limit: number;
  readonly isDescending?: boolean;
}

export interface FoundPendingRebind extends PendingRebind {
  /** Whether the plugin is deleted once nothing of it is bound. */
  readonly isDeleted: boolean;
}

/** A claim under a guest, with who publishes the plugin and whether it is blocked. */
export type GuestBinding = BindingRecord & {
  readonly userName: string;
  readonly block: BlockRecord | null;
};

/** A version that is bound under one guest at least, with its interface, if that is kept. */
export type BoundVersion = VersionRecord & {
  readonly userName: string;
  readonly interfaceJson: string | null;
};

/** An invitation of a guest, with the guest key that it assigns. */
export type GuestInvitation = InvitationRecord & { readonly guestId: GuestId; readonly guestKey: string };

/** An invitation to the team, with the name of the user who made it. */
export type TeamInvitation = InvitationRecord & { readonly role: MemberRole; readonly inviterName: string };

/** Questions to the store. Outside of a transaction each sees all that was committed before it was asked. */
export interface Queries extends HousekeepingQueries, AuditQueries, NewsQueries, StatusQueries, DeletionQueries {
  user(id: UserId): Promise<UserRecord | undefined>;
  /** Whether there is, or was, any user. */
  anyUser(): Promise<boolean>;
  /** @param email in its normal form */
  userByEmail(email: string): Promise<UserRecord | undefined>;
  password(userId: UserId): Promise<PasswordRecord | undefined>;
  /** The password of the user with an e-mail address. */
  passwordByEmail(email: string): Promise<PasswordRecord | undefined>;
  session(id: SessionId): Promise<SessionRecord | undefined>;
  sessionByHash(secretHash: string): Promise<SessionRecord | undefined>;
  /** A user's sessions, the expired ones included. */
  sessions(userId: UserId, page: Page): Promise<SessionRecord[]>;
  knownBrowserByHash(secretHash: string): Promise<KnownBrowserRecord | undefined>;
  oneTimeLinkByHash(codeHash: string): Promise<OneTimeLinkRecord | undefined>;
  authorizationCodeByHash(codeHash: string): Promise<AuthorizationCodeRecord | undefined>;
  deviceGrantByDeviceCode(deviceCodeHash: string): Promise<DeviceGrantRecord | undefined>;
  deviceGrantByUserCode(userCodeHash: string): Promise<DeviceGrantRecord | undefined>;

  app(id: AppId): Promise<AppRecord | undefined>;
  /** The applications in which the user is a member or holds a guest; `appId` alone, if it is one, when it is given. */
  appsOf(userId: UserId, appId: AppId | undefined, page: Page): Promise<AppRecord[]>;
  member(appId: AppId, userId: UserId): Promise<MemberRecord | undefined>;
  /** With the users' names; paged by user id. */
  members(appId: AppId, page: Page): Promise<(MemberRecord & { readonly userName: string })[]>;
  countOwners(appId: AppId): Promise<number>;
  /** Whether a user belongs to the team of any application. */
  isMemberOfAny(userId: UserId): Promise<boolean>;
  /** The applications whose only owner the user is, by id. */
  appsOwnedAlone(userId: UserId): Promise<AppRecord[]>;

  extensionPoint(id: ExtensionPointId): Promise<ExtensionPointRecord | undefined>;
  extensionPoints(appId: AppId, page: Page): Promise<ExtensionPointRecord[]>;

  guest(id: GuestId): Promise<GuestRecord | undefined>;
  guestByKey(appId: AppId, guestKey: string): Promise<GuestRecord | undefined>;
  guests(appId: AppId, page: Page): Promise<GuestRecord[]>;
  /** The guests that a user holds in an application, by id: all of them, at most `limit` after an id, or the one that is named. */
  guestsHeldBy(
    userId: UserId,
    appId: AppId,
    part?: {
      readonly limit?: number;
      readonly after?: string | undefined;
      readonly guestId?: string | undefined;
    },
  ): Promise<GuestRecord[]>;
  /** The guests that a user holds in these applications, by application and id; at most `limit` when it is given. */
  guestsHeldIn(userId: UserId, appIds: readonly AppId[], limit?: number): Promise<GuestRecord[]>;
  /**
   * The users who hold these guests, with their names, in the order of acceptance. With `limit` at most so many, in the order of
   * the guests' ids.
   */
  usersOfGuests(
    guestIds: readonly GuestId[],
    limit?: number,
  ): Promise<(GuestUserRecord & { readonly userName: string })[]>;

  invitation(id: InvitationId): Promise<InvitationRecord | undefined>;
  invitationByCodeHash(codeHash: string): Promise<InvitationRecord | undefined>;
  /** The invitations of guests, with the guest keys that they assign. */
  invitations(appId: AppId, page: Page): Promise<GuestInvitation[]>;
  /** The invitations to the team, with the names of the users who made them. */
  teamInvitations(appId: AppId, page: Page): Promise<TeamInvitation[]>;
  /** The pending invitations that a user made in an application, by id; with the guest keys that they assign, if they do. */
  pendingInvitationsBy(
    userId: UserId,
    appId: AppId,
  ): Promise<(InvitationRecord & { readonly guestKey: string | null })[]>;

  plugin(key: PluginKey): Promise<PluginRecord | undefined>;
  /**
   * The plugins of an extension point, of one user when one is given, in the order of (user id, name) by code unit; `after`
   * is `<user_id>/<name>`.
   */
  plugins(extensionPointId: ExtensionPointId, userId: UserId | undefined, page: Page): Promise<PluginRecord[]>;
  /** A plugin's versions, the newest first; `after` is the number of the last one that was shown. */
  versions(key: PluginKey, page: Page): Promise<VersionRecord[]>;
  version(key: PluginKey, number: number): Promise<VersionRecord | undefined>;
  /** The newest of a plugin's versions that have these bytes. */
  versionOfContent(key: PluginKey, contentAddress: ContentAddress): Promise<VersionRecord | undefined>;
  /**
   * How bytes are withdrawn from a publisher at an extension point: by versions and blocks of plugins that exist, and by what
   * deleted ones left. A version that is yanked or rejected counts while no version with the same bytes is published.
   */
  withdrawalsOf(
    extensionPointId: ExtensionPointId,
    userId: UserId,
    contentAddress: ContentAddress,
  ): Promise<WithdrawalRecord[]>;
  /**
   * The published versions of a plugin's publisher at its extension point that have these bytes, under any name; without an
   * address, those under other names that have the bytes of one of the plugin's versions.
   */
  publishedCopies(key: PluginKey, contentAddress?: ContentAddress): Promise<VersionRecord[]>;
  /** What a deleted plugin left withdrawn. */
  withdrawal(
    extensionPointId: ExtensionPointId,
    of: { readonly userId: string; readonly contentAddress: string },
  ): Promise<WithdrawalRecord | undefined>;
  /**
   * What deleted plugins left withdrawn at an extension point, with the publishers' names, in the order of (user id, content
   * address); `after` is `<user_id>/<content_address>`.
   */
  withdrawals(
    extensionPointId: ExtensionPointId,
    page: Page,
  ): Promise<(WithdrawalRecord & { readonly userName: string })[]>;
  /** Of these guests: those under which the plugin's name is reserved for another user at a time, by id. */
  nameReservations(
    key: PluginKey,
    guestIds: readonly GuestId[],
    nowMs: number,
  ): Promise<{ readonly guestId: GuestId; readonly untilMs: number }[]>;
  /**
   * Who has used a plugin's semantic version: one of its versions, or (`number` is `null`) a version of the plugin that was deleted
   * under this name, until a time.
   */
  labelUse(
    key: PluginKey,
    semver: string,
  ): Promise<{ readonly number: number | null; readonly untilMs: number | null } | undefined>;
  /** Under which guests these versions were published, in the order of the versions' and the guests' ids; at most `limit` when it is given. */
  guestsOfVersions(versionIds: readonly VersionId[], cut?: VersionGuestsCut): Promise<VersionGuest[]>;
  /** Under which guests these versions are bound, in the order of the versions' ids; at most `limit` when it is given. */
  guestsBoundTo(versionIds: readonly VersionId[], cut?: VersionGuestsCut): Promise<VersionGuest[]>;
  /** Of these guests: those under which a version was published. */
  guestsOfVersion(versionId: VersionId, guestIds: readonly GuestId[]): Promise<GuestId[]>;
  /** The guests under which a version was published and its plugin claims its name, by id. */
  claimantsOfVersion(version: VersionRecord, limit: number): Promise<GuestId[]>;
  /** The versions in an application that await approval, by id, with the names of who published them and against what. */
  versionsAwaitingApproval(appId: AppId, page: Page): Promise<AwaitingVersion[]>;
  /** The claims of these plugins to their names, under whatever guest; with `limit` at most so many, in the order of the plugins. */
  bindingsOfPlugins(keys: readonly PluginKey[], limit?: number): Promise<BindingRecord[]>;
  /** What is bound under a guest key: in no particular order. Nothing for a key that no guest has. */
  bindings(extensionPointId: ExtensionPointId, guestKey: string): Promise<BoundRecord[]>;
  /** The claims under a guest, by name in code-unit order, with what is known of the plugins. */
  bindingsOfGuest(extensionPointId: ExtensionPointId, guestId: GuestId, page: Page): Promise<GuestBinding[]>;
  /** The claim to a name under a guest. */
  binding(extensionPointId: ExtensionPointId, guestId: GuestId, name: string): Promise<BindingRecord | undefined>;
  /** The versions of an extension point's plugins that are bound under some guest, by id. */
  boundVersions(extensionPointId: ExtensionPointId, page: Page): Promise<BoundVersion[]>;
  /** How many names are claimed under a guest. */
  countBindings(extensionPointId: ExtensionPointId, guestId: GuestId): Promise<number>;
  /** Of these guests: those under which another user has claimed a name, by id. */
  guestsWithNameTaken(key: PluginKey, guestIds: readonly GuestId[]): Promise<GuestId[]>;
  /** Of these guests: those that have at least so many names claimed, and not this one, by id. */
  guestsWithoutRoom(key: PluginKey, guestIds: readonly GuestId[], maxNames: number): Promise<GuestId[]>;
  /** Whether the plugin is held at a version under some guest. */
  isPinned(key: PluginKey): Promise<boolean>;
  /** Whether the plugin was rolled back under one of these guests. */
  isRolledBack(key: PluginKey, guestIds: readonly GuestId[]): Promise<boolean>;
  /** What decides what a plugin's claims bind, in the order of the guests' ids: of all of them, or of a part. */
  bindingFacts(key: PluginKey, part?: ClaimPart): Promise<ClaimFacts[]>;
  /** After which guest the recomputation of a plugin's bindings goes on; `undefined` where none is pending. */
  pendingRebind(key: PluginKey): Promise<FoundPendingRebind | undefined>;
  /** The plugins whose bindings are being recomputed, or that are being deleted. */
  pendingPlugins(limit: number): Promise<PluginKey[]>;

  /**
   * Whether a user may read the bytes: some version that names them belongs to the user's own plugin in an application of
   * which the user still holds a guest, or to an application of which the user is a member; within `appId` when it is given.
   */
  mayReadContent(userId: UserId, address: ContentAddress, appId: AppId | undefined): Promise<boolean>;

  /** How many applications the user is an owner of. */
  countOwnedApps(userId: UserId): Promise<number>;
  /** How many of a user's tokens have not expired, without those of sessions. */
  countTokens(userId: UserId, nowMs: number): Promise<number>;
  /** How many of a user's API keys have not expired. */
  countApiKeys(userId: UserId, nowMs: number): Promise<number>;
  /** How many guests an application has, and invitations that can still be accepted. */
  countGuests(appId: AppId, nowMs: number): Promise<number>;
  /** How many extension points an application has, and how many bytes their schemas have. */
  schemasOf(appId: AppId): Promise<{ readonly count: number; readonly bytes: number }>;
  /** How many bytes a user's versions have. */
  publishedBy(userId: UserId): Promise<number>;
  /** The times up to which the publishes of a plugin, and of its publisher, are paid for; 0 for none. */
  publishPaid(key: PluginKey): Promise<PublishPaid>;
  /** How many plugins there are in an application, and how many bytes their versions have. */
  publishedIn(appId: AppId): Promise<{ readonly plugins: number; readonly bytes: number }>;

  tokenByHash(secretHash: string): Promise<TokenRecord | undefined>;
  token(id: TokenId): Promise<TokenRecord | undefined>;
  /**
   * A user's tokens, the expired ones included, without those of sessions; those restricted to `appId` alone when it is given.
   */
  tokens(userId: UserId, appId: AppId | undefined, page: Page): Promise<TokenRecord[]>;
  apiKeyByHash(secretHash: string): Promise<ApiKeyRecord | undefined>;
  apiKey(id: ApiKeyId): Promise<ApiKeyRecord | undefined>;
  apiKeys(userId: UserId, page: Page): Promise<ApiKeyRecord[]>;
}

/** Changes. Each is part of the transaction that hands it out. */
export interface Mutations
  extends HousekeepingMutations,
    AuditMutations,
    NewsMutations,
    StatusMutations,
    DeletionMutations {
  /** @throws ConflictError when another user has the e-mail address */
  insertUser(user: UserRecord): Promise<void>;
  renameUser(id: UserId, name: string): Promise<void>;
  /**
   * Deletes what belongs to the user alone: password, sessions, known browsers, links, codes, tokens and keys, memberships,
   * guests held, and plugins with their versions and bindings. Of the user a record stays, with the name that is given, no
   * e-mail address, and the time of the deletion; in the audit trails of applications the same name stands for the user, and what
   * is in the user's trail alone goes.
   */
  eraseUser(id: UserId, change: { readonly name: string; readonly deletedAtMs: number }): Promise<void>;

  /** @throws ConflictError when another user has the e-mail address */
  setEmail(id: UserId, email: string): Promise<void>;
  putPassword(password: PasswordRecord): Promise<void>;

  insertSession(session: SessionRecord): Promise<void>;
  confirmSession(id: SessionId, confirmedAtMs: number): Promise<void>;
  /** Takes the session's tokens with it. */
  deleteSession(id: SessionId): Promise<void>;
  /** Deletes a user's sessions, but not the one that is excepted. */
  deleteSessionsOf(userId: UserId, except?: SessionId): Promise<void>;
  insertKnownBrowser(browser: KnownBrowserRecord): Promise<void>;
  deleteKnownBrowsersOf(userId: UserId): Promise<void>;
  /** Deletes the oldest of a user's known browsers, so that so many are left at the most. */
  keepKnownBrowsers(userId: UserId, atMost: number): Promise<void>;

  insertOneTimeLink(link: OneTimeLinkRecord): Promise<void>;
  /** Marks a link as used; one that was used before stays as it is. */
  useOneTimeLink(id: OneTimeLinkId, usedAtMs: number): Promise<void>;
  /** Makes a user's unused links expire at a time, unless they expire earlier. */
  expireLinksOf(userId: UserId, expiredAtMs: number): Promise<void>;
  /** Notes that an account was made by means of an invitation. */
  noteInvitationSignUp(id: InvitationId, userId: UserId): Promise<void>;

  insertAuthorizationCode(code: AuthorizationCodeRecord): Promise<void>;
  /** Marks a code as exchanged for a token, which is there already; one that was exchanged before stays as it is. */
  useAuthorizationCode(codeHash: string, use: { readonly tokenId: TokenId; readonly usedAtMs: number }): Promise<void>;
  /** @throws ConflictError when another request has the same user code */
  insertDeviceGrant(grant: DeviceGrantRecord): Promise<void>;
  /** Settles a pending request; one that is not pending stays as it is. */
  settleDeviceGrant(
    id: DeviceGrantId,
    outcome:
      | {
          readonly status: 'approved';
          readonly userId: UserId;
          readonly sessionId: SessionId;
          readonly scopes: readonly TokenScope[];
        }
      | { readonly status: 'denied' },
  ): Promise<void>;
  deleteDeviceGrant(id: DeviceGrantId): Promise<void>;
  /** Deletes the logins that a user approved and whose tokens were not fetched: unused authorization codes and device grants. */
  deletePendingLoginsOf(userId: UserId): Promise<void>;
  /**
   * Deletes what ended before a time and serves nothing any more: sessions with their tokens, tokens of sessions that go on,
   * links, authorization codes, device requests, and what is reserved of deleted plugins. Access tokens of programs stay: their owners see in the list that they have expired.
   */
  deleteEnded(beforeMs: number): Promise<void>;

  insertApp(app: AppRecord): Promise<void>;
  updateApp(id: AppId, change: { readonly name: string; readonly updatedAtMs: number }): Promise<void>;
  /**
   * Takes with it everything that belongs to the application, tokens restricted to it included; the bytes stay in the blob store.
   * Its audit trail stays for the accounts that are in it, without the guest keys.
   */
  deleteApp(id: AppId): Promise<void>;
  /** Adds the member, or changes the role (and keeps `createdAtMs`) of one who is there. */
  putMember(member: MemberRecord): Promise<void>;
  deleteMember(appId: AppId, userId: UserId): Promise<void>;

  insertExtensionPoint(extensionPoint: ExtensionPointRecord): Promise<void>;
  updateExtensionPoint(
    id: ExtensionPointId,
    change: Pick<ExtensionPointRecord, 'name' | 'schemaJson' | 'requiresApproval' | 'limits' | 'updatedAtMs'>,
  ): Promise<void>;
  /** Takes its plugins, versions and bindings with it; the bytes stay in the blob store. */
  deleteExtensionPoint(id: ExtensionPointId): Promise<void>;

  insertGuest(guest: GuestRecord): Promise<void>;
  /** Takes its invitations, its users and its bindings with it; plugins and versions stay with their publishers. */
  deleteGuest(id: GuestId): Promise<void>;
  /** Makes the user hold the guest; nothing when it does already. */
  putGuestUser(guestUser: GuestUserRecord): Promise<void>;
  /**
   * Takes guests of one application from the user, and with each the bindings under it of what the user published, pins included,
   * that it was published under it, and names that are reserved for the user there.
   */
  deleteGuestUser(guestIds: readonly GuestId[], userId: UserId): Promise<void>;

  insertInvitation(invitation: InvitationRecord): Promise<void>;
  /** Moves a pending invitation on; one that is not pending stays as it is. */
  settleInvitation(
    id: InvitationId,
    status: Exclude<StoredInvitationStatus, 'pending'>,
    settledAtMs: number,
  ): Promise<void>;
  /** Revokes pending invitations; those that are not pending stay as they are. */
  revokeInvitations(ids: readonly InvitationId[], settledAtMs: number): Promise<void>;

  /**
   * Adds a version, and the plugin with its first. `number` must be the plugin's last plus one.
   *
   * @param interfaceJson as {@link CheckedModule} has it; default `null`
   * @throws ConflictError for another number
   */
  insertVersion(version: VersionRecord, interfaceJson?: string | null): Promise<void>;
  /** Notes the times up to which a plugin's and its publisher's publishes are paid for. */
  payPublish(key: PluginKey, paid: Partial<PublishPaid>): Promise<void>;
  /** Keeps the interface of versions that were published before interfaces were kept. */
  keepInterface(versionIds: readonly VersionId[], interfaceJson: string): Promise<void>;
  decideVersions(ids: readonly VersionId[], decision: VersionDecision): Promise<void>;
  /** Notes that a version was published under guests; nothing where it is known. */
  putVersionGuests(versionId: VersionId, guestIds: readonly GuestId[]): Promise<void>;
  /** Blocks a plugin; `null` takes that back. */
  blockPlugin(key: PluginKey, block: BlockRecord | null): Promise<void>;
  /**
   * Keeps what outlives a plugin's deletion: which bytes are withdrawn, and its semantic versions. Call it before
   * {@link Mutations.deletePlugin}, as {@link Mutations.reserveName}.
   *
   * @param times until when the semantic versions are reserved
   */
  retirePlugin(plugin: PluginRecord, times: { readonly atMs: number; readonly untilMs: number }): Promise<void>;
  /** Reserves a plugin's name for its publisher under guests, until a time. */
  reserveName(key: PluginKey, guestIds: readonly GuestId[], untilMs: number): Promise<void>;
  /** Deletes what a deleted plugin left withdrawn. */
  deleteWithdrawal(of: Pick<WithdrawalRecord, 'extensionPointId' | 'userId' | 'contentAddress'>): Promise<void>;
  /** Takes its versions and bindings with it; the bytes stay in the blob store. */
  deletePlugin(key: PluginKey): Promise<void>;
  /**
   * Claims the plugin's name under guests; nothing is bound by that. Claims that there are already stay as they are.
   *
   * @throws ConflictError when the name is another user's under one of them
   */
  claimName(key: PluginKey, guestIds: readonly GuestId[]): Promise<void>;
  /**
   * Has the claims under these guests bind a version of the plugin, or none. Each binds something else now. What a claim is
   * held at, or was rolled back to, stays. The time of each move is later than that of the one before it.
   */
  moveBindings(
    key: PluginKey,
    guests: readonly Pick<GuestRecord, 'id' | 'guestKey'>[],
    move: BindingMove,
  ): Promise<void>;
  /** Notes how far the recomputation of a plugin's bindings has come; it goes on in further transactions. */
  putPendingRebind(key: PluginKey, pending: PendingRebind): Promise<void>;
  /** The recomputation has come to its end: hosts of the application are told to ask for all lists. */
  endPendingRebind(key: PluginKey): Promise<void>;
  /** Holds a claim at a version of the plugin; `null` takes that back. What it binds stays until it is moved. */
  pinVersion(claim: Claim, versionId: VersionId | null): Promise<void>;
  /** Rolls claims back to a version of the plugin; `null` takes that back. What they bind stays until it is moved. */
  selectVersion(key: PluginKey, guestIds: readonly GuestId[], versionId: VersionId | null): Promise<void>;

  insertToken(token: TokenRecord): Promise<void>;
  deleteToken(id: TokenId): Promise<void>;
  /** Deletes all of a user's tokens that belong to no session, and all API keys. */
  deleteTokensAndKeysOf(userId: UserId): Promise<void>;
  insertApiKey(key: ApiKeyRecord): Promise<void>;
  deleteApiKey(id: ApiKeyId): Promise<void>;
  /** Notes when tokens, keys and sessions were last used. Ids that are gone meanwhile are passed over. */
  touch(uses: ReadonlyMap<TokenId | ApiKeyId | SessionId, number>): Promise<void>;
}

export interface Transaction extends Queries, Mutations {}

/** What is safe at the isolation level "read committed". */
export type LockingTransaction = Pick<
  Transaction,
  'leaseHolders' | 'noteUnused' | 'markForDeletion' | 'deleteBlobDeletions'
>;

/** Is told of a commit. */
export type CommitListener = (touched: readonly Subject[] | undefined) => void;

/** Metadata: everything but the bytes of plugins. */
export interface Store {
  readonly read: Queries;
  /**
   * Runs the work in one transaction, serialised with every other on the same data, whichever process makes it. All of it is
   * there afterwards (and survives a crash), or, when the work throws, none of it. The work may be run more than once, so it
   * does nothing but ask and change through the transaction, and never begins another one.
   *
   * @throws ConflictError, StorageFullError, UnavailableError, and whatever the work throws
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs work that locks the rows it decides on. It waits for transactions that hold them, and never fails because others changed
   * something else: it makes progress however busy the store is.
   *
   * @throws StorageFullError, UnavailableError, and whatever the work throws
   */
  writeLocking<T>(work: (tx: LockingTransaction) => Promise<T>): Promise<T>;
  /**
   * A number that is another one whenever anything may have been committed since: at once by this store; by another process of
   * this machine on the embedded store from the next turn of the event loop on; by another node within a second. What was read
   * after asking for it may be kept and used as long as it stays the same.
   */
  revision(): number;
  /**
   * Has a listener told of each commit, this store's own among them: what it has touched, or `undefined` where that isn't known, and
   * may be anything. It is called before `revision` is another number.
   */
  onCommitted(listener: CommitListener): void;
  /** Whether commits of others are known now; while they aren't, `revision` is another number each time. */
  isRevisionTrusted(): boolean;
  /** Looks for what can't be in the data, reading all of it. Other work may go on meanwhile, and raises no false alarm. */
  check(): Promise<StoreFault[]>;
  facts(): Promise<StoreFacts>;
  /** Takes some milliseconds, however much there is. */
  sizes(): Promise<StoreSizes>;
  /** Resolves when the store can be read, and rejects with the reason when it can't. */
  ping(): Promise<void>;
  /** Resolves when the store takes a change (the embedded store makes one), and rejects with the reason when it doesn't. */
  pingWrite(): Promise<void>;
  close(): Promise<void>;
}

/** A stretch of a blob: both ends are offsets of bytes and included, as in an HTTP range. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** An object of a blob store. */
export interface BlobStat {
  /** In bytes. */
  readonly size: number;
  /** A text that is another one when the object has been put again. */
  readonly fingerprint: string;
}

/** The bytes of plugins, each under its content address and the generation in which they were stored. */
export interface BlobStore {
  /**
   * Stores the bytes for good before it resolves (a crash after that loses nothing), and does the same work whether or not it
   * has them already. The caller vouches that the key's address is theirs.
   *
   * @throws StorageFullError when there is no room
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** The size of a blob in bytes; `undefined` when it isn't there. */
  size(key: BlobKey): Promise<number | undefined>;
  /** As {@link size}, with what shows that a blob was put again. */
  stat(key: BlobKey): Promise<BlobStat | undefined>;
  /**
   * The whole blob, or a stretch within its size, as chunks, which are read no faster than they are taken; `undefined` when it isn't
   * there.
   *
   * @param signal aborts when nobody reads any more, so that what is being waited for is given up
   * @param scratch where chunks may be put, one after the other: each is good until the next is asked for. Without it each is good
   *   for ever
   */
  open(
    key: BlobKey,
    range?: ByteRange,
    signal?: AbortSignal,
    scratch?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Deletes a blob. Whoever reads it already reads it to its end. A crash soon after may bring it back. It may take effect after this
   * has failed, at any later time.
   *
   * @returns whether it was there
   */
  delete(key: BlobKey): Promise<boolean>;
  /** The keys of all blobs, in no particular order. Of what is put or deleted meanwhile each may be among them or not. */
  list(): AsyncIterable<BlobKey>;
  /** Deletes what is left of blobs that were begun to be put before a time, and never were whole. @returns how many */
  deleteUnfinished(beforeMs: number): Promise<number>;
  /**
   * Resolves when the store can be read, and rejects with the reason when it can't.
   *
   * @param signal aborts when nobody waits for it any more
   */
  ping(signal?: AbortSignal): Promise<void>;
  /** As {@link ping}, for writing: stores a byte. */
  pingWrite(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by a store that has no room left. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}

/** Thrown by a store when a change would make something that must be unique exist twice; nothing of it is kept. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** Thrown by a store that could not get to its data in time, because others kept it busy: the same may work later. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** Thrown by a store that can be read alone: its file system is read-only. */
export class ReadOnlyError extends UnavailableError {}

/** Thrown by a store that answers and can't be used: it lets nobody in so, or has not what it is to keep data in. Trying again doesn't help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * Thrown before the last of the bytes of a blob that are not those of its address. They may have been spoilt on their way, so that
 * the same may work later too; if they lie so, `verify` tells.
 */
export class WrongBytesError extends UnavailableError {}

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** That many bytes from a cryptographic source. */
export type RandomBytes = (length: number) => Uint8Array;

/** What an extension point demands of a module. */
export type ModuleRequirements = Pick<ExtensionPointRecord, 'schemaJson' | 'limits'>;

/** What is known of a module that was checked. */
export interface CheckedModule {
  /** Its `ModuleInterface` as JSON; `null` when that is too large to be kept. */
  readonly interfaceJson: string | null;
  /** How it does not fit what was demanded; nothing where nothing was. */
  readonly mismatches: readonly Mismatch[];
}

/** Options of a job that waits in a fair queue. */
export interface JobOptions {
  /** The queue takes turns between keys: the id of the account. */
  readonly fairnessKey?: string | undefined;
  /** Aborts when the client no longer waits for the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks at modules, their interfaces and schemas, which may be large or odd, off the main thread. */
export interface ModuleChecker {
  /**
   * Tells whether bytes are a valid core module, and whether it fits what is demanded.
   *
   * @throws DomainError with the code and, where known, the byte offset for bytes that are no valid core module
   */
  check(bytes: Uint8Array, demands?: ModuleRequirements, asker?: JobOptions): Promise<CheckedModule>;
  /** Tells of each of some interfaces, as {@link CheckedModule} has them, how it does not fit. */
  compare(
    interfaces: readonly string[],
    demands: ModuleRequirements,
    asker?: JobOptions,
  ): Promise<readonly (readonly Mismatch[])[]>;
  /**
   * Reads an extension point's schema: an object, or its YAML or JSON text.
   *
   * @returns the schema as it is kept
   * @throws DomainError `invalid_field` with every fault that was found, each with its place
   */
  readSchema(schema: unknown, asker?: JobOptions): Promise<string>;
}

/** Hashes passwords, off the main thread and a few at a time. */
export interface PasswordHasher {
  /** The password's hash in PHC string form, with a salt of its own. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one of the hash. Takes as long when there is none, so that the time tells nothing.
   *
   * @throws UnavailableError when too many wait already
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether a hash was made with a lower cost than new ones are. */
  isOutdated(hash: string): boolean;
}

/** Knows the passwords that people use most, and many that were leaked. */
export interface CommonPasswords {
  /** @param text in lower case */
  has(text: string): Promise<boolean>;
}

/** Lets each key do so much in the long run, and more at once if it did less before. */
export interface RateLimiter {
  /** Counts one. @returns 0, or when it is one too many, in how many seconds to try again. */
  take(key: string): number;
  /** Takes one back that was counted. */
  give(key: string): void;
}
