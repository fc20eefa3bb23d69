import type { GuestId, UserId } from '@tenon/protocol';
import type { ChangedList } from '../news/ports.ts';
import type { Mutations, Transaction } from '../ports.ts';
import { contents, listSubject, readingSubject, type Subject, standingSubject } from './subject.ts';

/** Which subjects a call of a mutation touches, asked before it is made. */
type Touched<M extends keyof Mutations> = (
  ...args: Parameters<Mutations[M]>
) => readonly Subject[] | ((tx: Transaction) => Promise<readonly Subject[]>);

/** What nothing depends on that is kept: that something is not there is kept of lists alone. */
const nothing = (): readonly Subject[] => [];

function listSubjects(lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[]): readonly Subject[] {
  return lists.map(({ extensionPointId, guestKey }) =>
    guestKey === null ? extensionPointId : listSubject(extensionPointId, guestKey),
  );
}

function guestUser([guestId]: readonly GuestId[], userId: UserId): (tx: Transaction) => Promise<readonly Subject[]> {
  return async (tx) => {
    const guest = guestId === undefined ? undefined : await tx.guest(guestId);
    return guest === undefined ? [] : [standingSubject(userId, guest.appId), readingSubject(userId)];
  };
}

/**
 * What each mutation makes stale of what is kept in memory (`memories.ts`, and who asks for one). Lists change by what is told of
 * them. One that is missing here does not compile.
 */
const touched: { readonly [M in keyof Mutations]: Touched<M> } = {
  insertUser: nothing,
  payPublish: nothing,
  renameUser: nothing,
  eraseUser: (id) => [id, contents],
  setEmail: nothing,
  putPassword: nothing,
  insertSession: nothing,
  confirmSession: (id) => [id],
  deleteSession: (id) => [id],
  deleteSessionsOf: (userId) => [userId],
  insertKnownBrowser: nothing,
  deleteKnownBrowsersOf: nothing,
  keepKnownBrowsers: nothing,
  insertOneTimeLink: nothing,
  useOneTimeLink: nothing,
  expireLinksOf: nothing,
  noteInvitationSignUp: nothing,
  insertAuthorizationCode: nothing,
  useAuthorizationCode: nothing,
  insertDeviceGrant: nothing,
  settleDeviceGrant: nothing,
  deleteDeviceGrant: nothing,
  deletePendingLoginsOf: nothing,
  // What it deletes is refused for its time already.
  deleteEnded: nothing,
  insertApp: nothing,
  updateApp: (id) => [id],
  deleteApp: (id) => [id, contents],
  markAppDeleted: (id) => [id, contents],
  putMember: ({ appId, userId }) => [standingSubject(userId, appId), readingSubject(userId)],
  deleteMember: (appId, userId) => [standingSubject(userId, appId), readingSubject(userId)],
  insertExtensionPoint: nothing,
  updateExtensionPoint: (id) => [id],
  deleteExtensionPoint: (id) => [id, contents],
  markExtensionPointDeleted: (id) => [id, contents],
  insertGuest: nothing,
  deleteGuest: (id) => async (tx) => {
    const guest = await tx.guest(id);
    return guest === undefined ? [] : [guest.appId, contents];
  },
  putGuestUser: ({ guestId, userId }) => guestUser([guestId], userId),
  deleteGuestUser: guestUser,
  insertInvitation: nothing,
  settleInvitation: nothing,
  revokeInvitations: nothing,
  insertVersion: nothing,
  keepInterface: nothing,
  decideVersions: nothing,
  putVersionGuests: nothing,
  putPendingRebind: nothing,
  endPendingRebind: nothing,
  claimName: nothing,
  moveBindings: ({ extensionPointId }, guests) => guests.map(({ guestKey }) => listSubject(extensionPointId, guestKey)),
  blockPlugin: nothing,
  retirePlugin: nothing,
  reserveName: nothing,
  deleteWithdrawal: nothing,
  deletePlugin: () => [contents],
  markPluginDeleted: nothing,
  markPluginsDeleted: nothing,
  purgeRows: nothing,
  forgetDeleted: () => [contents],
  pinVersion: nothing,
  selectVersion: nothing,
  insertToken: nothing,
  deleteToken: (id) => [id],
  deleteTokensAndKeysOf: (userId) => [userId],
  insertApiKey: nothing,
  deleteApiKey: (id) => [id],
  // Nobody shows from memory when something was last used.
  touch: nothing,
  holdBlob: nothing,
  keepBlob: nothing,
  noteUnused: nothing,
  markForDeletion: nothing,
  putBlobDeletion: nothing,
  deleteBlobDeletions: nothing,
  putLease: nothing,
  deleteLease: nothing,
  deleteEndedLeases: nothing,
  insertAuditEvent: nothing,
  insertAuditEvents: nothing,
  deleteAuditBefore: nothing,
  insertNews: (_appId, lists) => listSubjects(lists),
  resetNews: (_appId, lists) => listSubjects(lists),
  deleteNewsBefore: nothing,
  putOperator: nothing,
  deleteOperator: nothing,
  putProcess: nothing,
  deleteProcess: nothing,
  deleteSilentProcesses: nothing,
  putChore: nothing,
};

type SubjectsOf = (...args: readonly unknown[]) => ReturnType<Touched<'touch'>>;
type Mutate = (...args: readonly unknown[]) => Promise<unknown>;

/** The mutations that touch something. */
const touching = Object.entries(touched).filter(([, subjectsOf]) => subjectsOf !== nothing) as readonly [
  name: keyof Mutations,
  SubjectsOf,
][];

/** A transaction that is watched. */
export interface WatchedTransaction {
  readonly tx: Transaction;
  /** What it has touched so far, each once. */
  touched(): readonly Subject[];
}

/** Watches what a transaction touches: for stores, which tell it to whoever keeps answers, on all nodes. */
export function watchTouched(tx: Transaction): WatchedTransaction {
  const subjects = new Set<Subject>();
  const watched: Record<string, unknown> = { ...tx };
  for (const [name, subjectsOf] of touching) {
    const mutate = tx[name] as Mutate;
    watched[name] = async (...args: readonly unknown[]) => {
      const found = subjectsOf(...args);
      for (const subject of typeof found === 'function' ? await found(tx) : found) subjects.add(subject);
      return mutate(...args);
    };
  }
  return { tx: watched as unknown as Transaction, touched: () => [...subjects] };
}
