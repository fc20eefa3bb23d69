import type { Mutations, Transaction } from '../../domain/ports.ts';

/**
 * The mutations of transactions that may use the reserve: they free room, or take rights or plugins away, or sign a user in who is to
 * do that. {@link watchFreeing} adds the tokens of sessions; any other token is growth that an account may ask for.
 */
const freeing: ReadonlySet<keyof Mutations> = new Set([
  'eraseUser',
  'insertSession',
  'confirmSession',
  'deleteSession',
  'deleteSessionsOf',
  'deletePendingLoginsOf',
  'expireLinksOf',
  'deleteEnded',
  'deleteApp',
  'markAppDeleted',
  'deleteMember',
  'deleteExtensionPoint',
  'markExtensionPointDeleted',
  'deleteGuest',
  'deleteGuestUser',
  'settleInvitation',
  'revokeInvitations',
  'decideVersions',
  'blockPlugin',
  'deletePlugin',
  'markPluginDeleted',
  'markPluginsDeleted',
  'purgeRows',
  'forgetDeleted',
  'endPendingRebind',
  'deleteToken',
  'deleteTokensAndKeysOf',
  'deleteApiKey',
  'noteUnused',
  'markForDeletion',
  'deleteBlobDeletions',
  'putLease',
  'deleteLease',
  'deleteEndedLeases',
  'deleteAuditBefore',
  'deleteNewsBefore',
  'deleteOperator',
] as const);

/** Watches a transaction for the mutations of {@link freeing}. */
export function watchFreeing(tx: Transaction, onFreeing: () => void): Transaction {
  const watched: Record<string, unknown> = { ...tx };
  for (const name of freeing) {
    const mutate = tx[name] as (...args: readonly unknown[]) => Promise<unknown>;
    watched[name] = (...args: readonly unknown[]) => {
      onFreeing();
      return mutate(...args);
    };
  }
  const insertToken: Mutations['insertToken'] = (token) => {
    if (token.sessionId !== null) onFreeing();
    return tx.insertToken(token);
  };
  return { ...watched, insertToken } as unknown as Transaction;
}
