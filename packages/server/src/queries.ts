import { appMutations, appQueries } from './apps/app-queries.ts';
import { deletionMutations, deletionQueries } from './apps/deletion-queries.ts';
import { guestMutations, guestQueries } from './apps/guest-queries.ts';
import { invitationMutations, invitationQueries } from './apps/invitation-queries.ts';
import { overviewQueries } from './apps/overview-queries.ts';
import { attestationMutations, attestationQueries } from './attestations/attestation-queries.ts';
import { auditMutations, auditQueries } from './audit/audit-queries.ts';
import { auditChainMutations, auditChainQueries } from './audit/chain-queries.ts';
import { expiredMutations } from './auth/expired-queries.ts';
import { expiryMutations, expiryQueries } from './auth/expiry-queries.ts';
import { authorizationMutations, authorizationQueries } from './auth/oauth/authorization-queries.ts';
import { identityMutations, identityQueries } from './auth/oidc/identity-queries.ts';
import { oneTimeLinkMutations, oneTimeLinkQueries } from './auth/one-time-link-queries.ts';
import { operatorMutations, operatorQueries } from './auth/operator-queries.ts';
import { passkeyMutations, passkeyQueries } from './auth/passkeys/passkey-queries.ts';
import { quotaMutations, quotaQueries } from './auth/quota-queries.ts';
import { sessionMutations, sessionQueries } from './auth/session-queries.ts';
import { tokenMutations, tokenQueries } from './auth/token-queries.ts';
import { trustRuleMutations, trustRuleQueries } from './auth/trusted-publishing/trust-rule-queries.ts';
import { userMutations, userQueries } from './auth/user-queries.ts';
import { blobMutations, blobQueries } from './blobs/blob-queries.ts';
import { leaseMutations, leaseQueries } from './blobs/lease-queries.ts';
import { callReportMutations, callReportQueries } from './call-reports/call-report-queries.ts';
import { changeMutations, changeQueries } from './changes/change-queries.ts';
import type { Db } from './db/db.ts';
import { Effects, type MutationRules } from './db/mutation.ts';
import { nodeMutations, nodeQueries } from './db/node-queries.ts';
import { mailMutations, mailQueries } from './mail/mail-queries.ts';
import { mirrorMutations, mirrorQueries } from './mirror/mirror-queries.ts';
import { mirroredListMutations, mirroredListQueries } from './mirror/mirrored-list-queries.ts';
import { mirroredStructureMutations, mirroredStructureQueries } from './mirror/mirrored-structure-queries.ts';
import { mirroredVersionMutations, mirroredVersionQueries } from './mirror/mirrored-version-queries.ts';
import { ociMutations, ociQueries } from './oci/oci-queries.ts';
import { packageMutations, packageQueries } from './packages/package-queries.ts';
import { bindingFactsQueries } from './plugins/binding-facts.ts';
import { bindingMutations, bindingQueries } from './plugins/binding-queries.ts';
import { blockedPublisherMutations, blockedPublisherQueries } from './plugins/blocked-publisher-queries.ts';
import { extensionPointMutations, extensionPointQueries } from './plugins/extension-point-queries.ts';
import { massYankQueries } from './plugins/mass-yank-queries.ts';
import { pluginListQueries } from './plugins/plugin-list-queries.ts';
import { pluginMutations, pluginQueries } from './plugins/plugin-queries.ts';
import { rollOutMutations, rollOutQueries } from './plugins/roll-outs/roll-out-queries.ts';
import { similarNameMutations, similarNameQueries } from './plugins/similar-name-queries.ts';
import { versionMutations, versionQueries } from './plugins/version-queries.ts';
import { withdrawalMutations, withdrawalQueries } from './plugins/withdrawal-queries.ts';
import { simulationMutations, simulationQueries } from './simulations/simulation-queries.ts';
import { simulationRunMutations, simulationRunQueries } from './simulations/simulation-run-queries.ts';
import { usageMutations, usageQueries } from './usage/usage-queries.ts';
import { webhookMutations, webhookQueries } from './webhooks/webhook-queries.ts';

/** All queries, in SQL that works on SQLite and PostgreSQL. */
const allQueries = {
  ...userQueries,
  ...sessionQueries,
  ...oneTimeLinkQueries,
  ...authorizationQueries,
  ...identityQueries,
  ...appQueries,
  ...overviewQueries,
  ...extensionPointQueries,
  ...guestQueries,
  ...invitationQueries,
  ...pluginQueries,
  ...pluginListQueries,
  ...deletionQueries,
  ...versionQueries,
  ...withdrawalQueries,
  ...blockedPublisherQueries,
  ...similarNameQueries,
  ...massYankQueries,
  ...bindingQueries,
  ...quotaQueries,
  ...bindingFactsQueries,
  ...tokenQueries,
  ...trustRuleQueries,
  ...expiryQueries,
  ...blobQueries,
  ...leaseQueries,
  ...auditQueries,
  ...auditChainQueries,
  ...changeQueries,
  ...operatorQueries,
  ...nodeQueries,
  ...packageQueries,
  ...usageQueries,
  ...mailQueries,
  ...simulationQueries,
  ...simulationRunQueries,
  ...attestationQueries,
  ...passkeyQueries,
  ...webhookQueries,
  ...callReportQueries,
  ...rollOutQueries,
  ...ociQueries,
  ...mirrorQueries,
  ...mirroredStructureQueries,
  ...mirroredVersionQueries,
  ...mirroredListQueries,
};

const allMutations = {
  ...userMutations,
  ...sessionMutations,
  ...oneTimeLinkMutations,
  ...authorizationMutations,
  ...identityMutations,
  ...expiredMutations,
  ...appMutations,
  ...extensionPointMutations,
  ...guestMutations,
  ...invitationMutations,
  ...pluginMutations,
  ...deletionMutations,
  ...versionMutations,
  ...withdrawalMutations,
  ...blockedPublisherMutations,
  ...similarNameMutations,
  ...bindingMutations,
  ...quotaMutations,
  ...tokenMutations,
  ...trustRuleMutations,
  ...expiryMutations,
  ...blobMutations,
  ...leaseMutations,
  ...auditMutations,
  ...auditChainMutations,
  ...changeMutations,
  ...operatorMutations,
  ...nodeMutations,
  ...packageMutations,
  ...usageMutations,
  ...mailMutations,
  ...simulationMutations,
  ...simulationRunMutations,
  ...attestationMutations,
  ...passkeyMutations,
  ...webhookMutations,
  ...callReportMutations,
  ...rollOutMutations,
  ...ociMutations,
  ...mirrorMutations,
  ...mirroredStructureMutations,
  ...mirroredVersionMutations,
  ...mirroredListMutations,
};

type Bound<F> = F extends (db: Db, ...args: infer A) => infer R ? (...args: A) => R : never;

/** All queries, bound to a database. Outside of a transaction, each query sees everything that was committed before it began. */
export type Queries = { readonly [M in keyof typeof allQueries]: Bound<(typeof allQueries)[M]> };

/** All mutations, bound to a transaction. */
export type Mutations = { readonly [M in keyof typeof allMutations]: Bound<(typeof allMutations)[M]['run']> };

export interface Transaction extends Queries, Mutations {
  /** The accumulated effects of its mutations. */
  readonly effects: Effects;
}

/** Runs a query or a mutation, for instance within a span. */
export type Around = (name: string, run: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

type Run = (db: Db, ...args: readonly unknown[]) => Promise<unknown>;
type BoundRun = (...args: readonly unknown[]) => Promise<unknown>;
type AnyMutation = MutationRules<readonly unknown[]> & { readonly run: Run };

const queryEntries = Object.entries(allQueries as unknown as Readonly<Record<string, Run>>);
const mutationEntries = Object.entries(allMutations as unknown as Readonly<Record<string, AnyMutation>>);

/** Binds all queries to a database. */
export function queries(db: Db): Queries {
  const bound: Record<string, BoundRun> = {};
  for (const [name, query] of queryEntries) bound[name] = (...args) => query(db, ...args);
  return bound as unknown as Queries;
}

/** Binds all queries and mutations to a transaction. */
export function transaction(db: Db): Transaction {
  const effects = new Effects();
  const bound: Record<string, BoundRun> = {};
  for (const [name, mutation] of mutationEntries) {
    bound[name] = async (...args) => {
      await effects.add(name, mutation, db, args);
      return mutation.run(db, ...args);
    };
  }
  return { ...queries(db), ...bound, effects } as Transaction;
}

/** Binds the statements of all features. Passed to a metadata store when it is opened. */
export const statements = { queries, transaction };

export type Statements = typeof statements;

/** Returns the same queries, or the same transaction, with `around` around each call. */
export function callAround<T extends Queries>(bound: T, around: Around): T {
  const wrapped: Record<string, unknown> = { ...bound };
  for (const [name, member] of Object.entries(bound)) {
    if (typeof member !== 'function') continue;
    wrapped[name] = (...args: readonly unknown[]) => around(name, () => (member as BoundRun)(...args), args);
  }
  return wrapped as T;
}
