import type { BindingFacts, GuestId, MemberRole, VersionId } from '@tenon/protocol';
import type {
  BindingRecord,
  BlockRecord,
  GuestRecord,
  InvitationRecord,
  PendingRebind,
  PluginKey,
  VersionRecord,
} from './records.ts';

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

/** Names a plugin's claim under one guest. */
export type BindingKey = PluginKey & Pick<BindingRecord, 'guestId'>;

/** A plugin's claim under a guest, with what decides what it binds. */
export type BindingWithFacts = BindingFacts<VersionId> &
  Pick<BindingRecord, 'guestId' | 'versionId' | 'selectedVersionId' | 'selectedNumber' | 'updatedAtMs'> &
  Pick<GuestRecord, 'guestKey'>;

/** Where claims are moved, and when. */
export interface BindingMove {
  readonly versionId: VersionId | null;
  readonly nowMs: number;
  /** Whether hosts are told of each list; otherwise they are told at the end to ask for all: {@link Mutations.endPendingRebind}. */
  readonly notifiesEachList: boolean;
}

/** Some of a plugin's claims: those under these guests, or after a guest's id; `limit` at the most. */
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

/** How many guests of versions are read, and in which order of the versions' ids. */
export interface VersionGuestsLimit {
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
