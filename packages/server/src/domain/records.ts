import type {
  ApiKeyId,
  AppId,
  ContentAddress,
  ExtensionPointId,
  GuestId,
  InvitationId,
  MemberRole,
  TokenId,
  TokenScope,
  UserId,
  VersionId,
} from '@tenon/protocol';

/** What the store keeps. Times are milliseconds since the Unix epoch; texts are as the user sent them. */

export interface UserRecord {
  readonly id: UserId;
  readonly name: string;
  readonly email: string | null;
  readonly createdAtMs: number;
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
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

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
  readonly guestId: GuestId;
  readonly codeHash: string;
  readonly status: StoredInvitationStatus;
  readonly email: string | null;
  readonly name: string | null;
  readonly createdBy: UserId;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly settledAtMs: number | null;
}

/** A plugin: what one user publishes under one name against one extension point. Its versions hang under it. */
export interface PluginKey {
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly name: string;
}

/** A plugin with its newest version. */
export interface PluginRecord extends PluginKey {
  readonly versionId: VersionId;
  readonly versionNumber: number;
  readonly contentAddress: ContentAddress;
  readonly size: number;
  readonly publishedAtMs: number;
  readonly createdAtMs: number;
}

export interface VersionRecord extends PluginKey {
  readonly id: VersionId;
  readonly number: number;
  readonly contentAddress: ContentAddress;
  readonly size: number;
  readonly createdAtMs: number;
}

/** A plugin's version under a guest: a name is unique per extension point and guest, since A2's object is keyed by name. */
export interface BindingRecord extends PluginKey {
  readonly guestId: GuestId;
  readonly versionId: VersionId;
  readonly contentAddress: ContentAddress;
  readonly updatedAtMs: number;
}

export interface TokenRecord {
  readonly id: TokenId;
  readonly userId: UserId;
  readonly name: string;
  readonly secretHash: string;
  readonly scopes: readonly TokenScope[];
  readonly appId: AppId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export interface ApiKeyRecord {
  readonly id: ApiKeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly secretHash: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}
