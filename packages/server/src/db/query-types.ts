import type {
  AppId,
  ExtensionPointId,
  GuestId,
  GuestListQuery,
  InvitationId,
  InvitationStatus,
  MemberRole,
  PluginListQuery,
  UserId,
  UserListQuery,
  VersionId,
} from '@tenon/protocol';
import type { QuotaOverrideRecord } from './quota-records.ts';
import type {
  BindingRecord,
  BlockRecord,
  GuestRecord,
  InvitationRecord,
  PendingRebind,
  PluginKey,
  PluginRecord,
  UserRecord,
  VersionRecord,
} from './records.ts';

/** A page of a list: at most `limit` entries whose id is greater than `after`, by id. */
export interface Page {
  readonly after?: string | undefined;
  /** Selects the entries before this cursor, the last one first. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** A page in one of several orders. A `-` before the name of the order reverses it. */
export interface SortedPage<S extends string> extends Page {
  readonly sort?: S | undefined;
}

export type NameSort = 'createdAt' | 'name' | '-name';

export type GuestSort = NonNullable<GuestListQuery['sort']>;

/** Selects guests. An omitted field selects all. */
export interface GuestSearch {
  /** A part of the guest key, of a user's name, or of an invitation's name or e-mail address; or a user id. */
  readonly text?: string | undefined;
  readonly guestKey?: string | undefined;
  readonly state?: GuestListQuery['state'];
  /** The time that decides which invitations are pending. */
  readonly nowMs: number;
}

export type UserSort = NonNullable<UserListQuery['sort']>;

/** Selects users. An omitted field selects all. */
export interface UserSearch {
  /** A part of the name or the e-mail address, or the id. */
  readonly text?: string | undefined;
  readonly state?: UserListQuery['state'];
}

export type ListedUser = UserRecord & { readonly isOperator: boolean };

export type MemberSort = 'createdAt' | 'name' | '-name' | 'role' | '-role';

export type BindingSort = 'createdAt' | 'guestKey' | '-guestKey';

export type CreationSort = 'createdAt' | '-createdAt';

export type PluginSort = NonNullable<PluginListQuery['sort']>;

/** Selects plugins. An omitted field selects all. */
export interface PluginSearch {
  readonly extensionPointId?: ExtensionPointId | undefined;
  readonly userId?: UserId | undefined;
  /** A part of the name or of the publisher's name; or the publisher's id, or the newest version's content address. */
  readonly text?: string | undefined;
  readonly name?: string | undefined;
  /** Whether `text` may be a part of a guest key. */
  readonly searchesGuestKeys?: boolean;
  readonly state?: PluginListQuery['state'];
  /** Whether a guest gets a version of the plugin. */
  readonly isBound?: boolean | undefined;
}

/** Whose plugins a list has. */
export type PluginScope = { readonly appId: AppId } | { readonly extensionPointId: ExtensionPointId };

/** A plugin with the name of its extension point. */
export type AppPlugin = PluginRecord & { readonly extensionPointName: string };

export interface BoundedPage extends Page {
  readonly limit: number;
}

/** A version that awaits approval. */
export type AwaitingVersion = VersionRecord & {
  readonly extensionPointName: string;
  readonly userName: string;
};

export type BindingKey = PluginKey & Pick<BindingRecord, 'guestId'>;

/** The facts that decide which version of a plugin is bound under one guest. */
export interface BindingFacts {
  readonly isBlocked: boolean;
  /** The version to which the host has pinned the binding. */
  readonly pinned: { readonly id: VersionId; readonly isPublished: boolean } | null;
  /** The version that was rolled back to, if it is published. */
  readonly selected: VersionId | null;
  /** Of {@link selected}: the number of the plugin's newest version when it was rolled back. */
  readonly selectedAtNumber: number | null;
  /** The newest version for all guests that is published and was published under this guest. */
  readonly newest: VersionId | null;
  /** Newer published versions in an open roll-out that were published under this guest, by number. */
  readonly candidates: readonly RollOutCandidate[];
}

/** A version in an open roll-out, for one binding. */
export interface RollOutCandidate {
  readonly id: VersionId;
  readonly number: number;
  readonly isReached: boolean;
}

/** A plugin's binding under a guest, with the facts that decide which version it binds. */
export type BindingWithFacts = BindingFacts &
  Pick<BindingRecord, 'guestId' | 'versionId' | 'selectedVersionId' | 'selectedNumber' | 'updatedAtMs'> &
  Pick<GuestRecord, 'guestKey'>;

/** A change of the bound version. */
export interface BindingMove {
  readonly versionId: VersionId | null;
  readonly nowMs: number;
  /** Whether each list gets a change event. Otherwise {@link Mutations.endPendingRebind} resets the whole feed. */
  readonly notifiesEachList: boolean;
}

/** Selects at most `limit` of a plugin's bindings: those under these guests, or under guests with a greater id than `after`. */
export interface BindingRange {
  readonly guestIds?: readonly GuestId[];
  readonly after?: string;
  readonly limit?: number;
}

/** A guest under which a version was published, or is bound. */
export interface VersionGuest {
  readonly versionId: VersionId;
  readonly guestId: GuestId;
}

export interface VersionGuestsLimit {
  readonly limit: number;
  /** Whether the versions are in descending order of their ids. */
  readonly isDescending?: boolean;
}

export interface FoundPendingRebind extends PendingRebind {
  /** Whether the plugin is deleted once none of its versions is bound. */
  readonly isDeleted: boolean;
}

/** A binding with its guest's key. */
export type PluginBinding = BindingRecord & Pick<GuestRecord, 'guestKey'>;

export type GuestToAttest = Pick<GuestRecord, 'id' | 'guestKey'>;

/** Where a list of the bindings by guest key and name continues. */
export interface BindingPosition {
  readonly guestKey: string;
  readonly name: string;
}

/** A binding with what an attestation says about the version that it binds. */
export interface BindingToAttest extends BindingPosition {
  readonly userId: UserId;
  readonly userName: string;
  readonly updatedAtMs: number;
  /** `null` for a binding that binds no version. */
  readonly number: number | null;
  readonly semver: string | null;
  readonly note: string | null;
  readonly contentAddress: string | null;
  readonly size: number | null;
}

/** A binding with the extension point's name, the plugin's publisher, and the blocks of both. */
export type GuestBinding = BindingRecord & {
  readonly extensionPointName: string;
  readonly userName: string;
  readonly block: BlockRecord | null;
  readonly publisherBlock: BlockRecord | null;
};

/** A version that is bound under at least one guest, with its interface, if it is stored. */
export type BoundVersion = VersionRecord & {
  readonly userName: string;
  readonly interfaceJson: string | null;
};

/** An invitation that assigns a guest. */
export type GuestInvitation = InvitationRecord & {
  readonly guestId: GuestId;
  readonly guestKey: string;
  readonly guestLabel: string | null;
};

/** Which invitations of guests a query finds. */
export interface InvitationSearch {
  readonly guestId?: string | undefined;
  readonly ids?: readonly InvitationId[] | undefined;
  readonly status?: InvitationStatus | undefined;
  /** Finds invitations that were made at this time or before. */
  readonly createdBeforeMs?: number | undefined;
  readonly text?: string | undefined;
  readonly nowMs: number;
}

/** An invitation to the team. */
export type TeamInvitation = InvitationRecord & { readonly role: MemberRole; readonly inviterName: string };

/** When and from which network address a credential was last used. */
export interface LastUse {
  readonly usedAtMs: number;
  readonly address: string;
}

/** The network address of a credential's last use; `null` without one. */
export interface WithLastAddress {
  readonly lastUsedAddress: string | null;
}

/** An override with the name of its account or application. */
export interface ListedQuotaOverride extends QuotaOverrideRecord {
  readonly subjectName: string | null;
}
