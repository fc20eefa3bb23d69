import type { Mutations, Store, Transaction } from '../ports.ts';

/** Thrown where a transaction changes something and leaves no row of it: a fault of the use case. None of it is kept. */
export class UnrecordedChangeError extends Error {
  override readonly name = 'UnrecordedChangeError';
  readonly changes: readonly string[];

  constructor(changes: readonly string[]) {
    super(`A change was made without a row in the audit trail: ${changes.join(', ')}`);
    this.changes = changes;
  }
}

/** Whether a call of a mutation is a change that has to be told. */
type IsTold<M extends keyof Mutations> = boolean | ((...args: Parameters<Mutations[M]>) => boolean);

/**
 * Which mutations change what people see or may do, and so leave a row, and which do the house's own work. One that is missing
 * here does not compile.
 */
const told: { readonly [M in keyof Mutations]: IsTold<M> } = {
  insertUser: true,
  renameUser: true,
  setEmail: true,
  eraseUser: true,
  // A password is hashed anew at sign-in when hashes cost more by now, and that leaves the row of the sign-in.
  putPassword: true,
  insertSession: true,
  confirmSession: true,
  deleteSession: true,
  deleteSessionsOf: true,
  insertKnownBrowser: true,
  deleteKnownBrowsersOf: true,
  keepKnownBrowsers: true,
  insertOneTimeLink: true,
  useOneTimeLink: true,
  expireLinksOf: true,
  noteInvitationSignUp: true,
  insertAuthorizationCode: true,
  useAuthorizationCode: true,
  // Nobody has approved it yet, and until then it opens nothing.
  insertDeviceGrant: false,
  settleDeviceGrant: true,
  deleteDeviceGrant: true,
  deletePendingLoginsOf: true,
  // What it deletes had ended a week before.
  deleteEnded: false,
  insertApp: true,
  updateApp: true,
  deleteApp: true,
  markAppDeleted: true,
  putMember: true,
  deleteMember: true,
  insertExtensionPoint: true,
  updateExtensionPoint: true,
  deleteExtensionPoint: true,
  markExtensionPointDeleted: true,
  insertGuest: true,
  deleteGuest: true,
  putGuestUser: true,
  deleteGuestUser: true,
  insertInvitation: true,
  settleInvitation: true,
  revokeInvitations: true,
  insertVersion: true,
  // What is kept of a version's bytes says no more than they do.
  keepInterface: false,
  // What a publish counts; the version that it makes is told of.
  payPublish: false,
  decideVersions: true,
  putVersionGuests: true,
  blockPlugin: true,
  // The row of the deletion tells of it.
  retirePlugin: true,
  reserveName: false,
  deleteWithdrawal: true,
  deletePlugin: true,
  markPluginDeleted: true,
  markPluginsDeleted: true,
  // They go on with a deletion that has left its row.
  purgeRows: false,
  forgetDeleted: false,
  claimName: true,
  // What is bound, and rolled back to, follows from what else is changed, which leaves the row.
  moveBindings: false,
  putPendingRebind: false,
  endPendingRebind: false,
  pinVersion: true,
  selectVersion: false,
  // The pages of a browser fetch one each hour and each time that they are opened: the session's start is what counts.
  insertToken: (token) => token.sessionId === null,
  deleteToken: true,
  deleteTokensAndKeysOf: true,
  insertApiKey: true,
  deleteApiKey: true,
  touch: false,
  holdBlob: false,
  keepBlob: false,
  noteUnused: false,
  markForDeletion: false,
  putBlobDeletion: false,
  deleteBlobDeletions: false,
  putLease: false,
  deleteLease: false,
  deleteEndedLeases: false,
  insertAuditEvent: false,
  insertAuditEvents: false,
  deleteAuditBefore: false,
  // It tells hosts of what the row tells people of.
  insertNews: false,
  resetNews: false,
  deleteNewsBefore: false,
  putOperator: true,
  deleteOperator: true,
  putProcess: false,
  deleteProcess: false,
  deleteSilentProcesses: false,
  putChore: false,
};

/**
 * A store whose transactions leave a row in the audit trail when they change anything, or fail: what leaves no trace is not done.
 * Nobody has to remember it, and nobody can forget it.
 */
export function demandAudit(store: Store): Store {
  return {
    ...store,
    write: (work) =>
      store.write(async (tx) => {
        const watched = watch(tx);
        const result = await work(watched.tx);
        watched.demandRow();
        return result;
      }),
  };
}

function hasRows([events]: readonly unknown[]): boolean {
  return Array.isArray(events) && events.length > 0;
}

function watch(tx: Transaction): { readonly tx: Transaction; demandRow(): void } {
  const changes: string[] = [];
  let isRecorded = false;
  const note = (method: keyof Mutations, args: readonly unknown[]): void => {
    if (method === 'insertAuditEvent' || (method === 'insertAuditEvents' && hasRows(args))) isRecorded = true;
    const isTold = told[method] as boolean | ((...args: readonly unknown[]) => boolean);
    if (typeof isTold === 'function' ? isTold(...args) : isTold) changes.push(method);
  };
  const watched = new Proxy(tx, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || !Object.hasOwn(told, name)) return method;
      return (...args: unknown[]) => {
        note(name as keyof Mutations, args);
        return Reflect.apply(method, target, args);
      };
    },
  });
  return {
    tx: watched,
    demandRow() {
      if (changes.length > 0 && !isRecorded) throw new UnrecordedChangeError(changes);
    },
  };
}
