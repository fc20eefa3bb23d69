import { appMutations, appQueries } from './apps/app-queries.ts';
import { deletionMutations, deletionQueries } from './apps/deletion-queries.ts';
import { guestMutations, guestQueries } from './apps/guest-queries.ts';
import { invitationMutations, invitationQueries } from './apps/invitation-queries.ts';
import { auditMutations, auditQueries } from './audit/audit-queries.ts';
import { expiredMutations } from './auth/expired-queries.ts';
import { authorizationMutations, authorizationQueries } from './auth/oauth/authorization-queries.ts';
import { oneTimeLinkMutations, oneTimeLinkQueries } from './auth/one-time-link-queries.ts';
import { operatorMutations, operatorQueries } from './auth/operator-queries.ts';
import { quotaMutations, quotaQueries } from './auth/quota-queries.ts';
import { sessionMutations, sessionQueries } from './auth/session-queries.ts';
import { tokenMutations, tokenQueries } from './auth/token-queries.ts';
import { userMutations, userQueries } from './auth/user-queries.ts';
import { blobMutations, blobQueries } from './blobs/blob-queries.ts';
import { leaseMutations, leaseQueries } from './blobs/lease-queries.ts';
import { changeMutations, changeQueries } from './changes/change-queries.ts';
import type { Db } from './db/db.ts';
import type { MutationRules } from './db/mutation.ts';
import { Effects } from './db/mutation.ts';
import { nodeMutations, nodeQueries } from './db/node-queries.ts';
import { bindingFactsQueries } from './plugins/binding-facts.ts';
import { bindingMutations, bindingQueries } from './plugins/binding-queries.ts';
import { extensionPointMutations, extensionPointQueries } from './plugins/extension-point-queries.ts';
import { pluginMutations, pluginQueries } from './plugins/plugin-queries.ts';
import { versionMutations, versionQueries } from './plugins/version-queries.ts';
import { withdrawalMutations, withdrawalQueries } from './plugins/withdrawal-queries.ts';

/** All queries, in SQL that SQLite and PostgreSQL read alike. */
const allQueries = {
  ...userQueries,
  ...sessionQueries,
  ...oneTimeLinkQueries,
  ...authorizationQueries,
  ...appQueries,
  ...extensionPointQueries,
  ...guestQueries,
  ...invitationQueries,
  ...pluginQueries,
  ...deletionQueries,
  ...versionQueries,
  ...withdrawalQueries,
  ...bindingQueries,
  ...quotaQueries,
  ...bindingFactsQueries,
  ...tokenQueries,
  ...blobQueries,
  ...leaseQueries,
  ...auditQueries,
  ...changeQueries,
  ...operatorQueries,
  ...nodeQueries,
};

const allMutations = {
  ...userMutations,
  ...sessionMutations,
  ...oneTimeLinkMutations,
  ...authorizationMutations,
  ...expiredMutations,
  ...appMutations,
  ...extensionPointMutations,
  ...guestMutations,
  ...invitationMutations,
  ...pluginMutations,
  ...deletionMutations,
  ...versionMutations,
  ...withdrawalMutations,
  ...bindingMutations,
  ...quotaMutations,
  ...tokenMutations,
  ...blobMutations,
  ...leaseMutations,
  ...auditMutations,
  ...changeMutations,
  ...operatorMutations,
  ...nodeMutations,
};

type Bound<F> = F extends (db: Db, ...args: infer A) => infer R ? (...args: A) => R : never;

/** Queries of a database. Outside of a transaction each sees all that was committed before it began. */
export type Queries = { readonly [M in keyof typeof allQueries]: Bound<(typeof allQueries)[M]> };

/** Changes. Each is part of the transaction that hands it out. */
export type Mutations = { readonly [M in keyof typeof allMutations]: Bound<(typeof allMutations)[M]['run']> };

export interface Transaction extends Queries, Mutations {
  /** What its mutations have done so far. */
  readonly effects: Effects;
}

/** Runs a query or a mutation, such as within a span. */
export type Around = (name: string, run: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

const directly: Around = (_name, run) => run();

class BoundQueries {
  readonly db: Db;
  readonly around: Around;

  constructor(db: Db, around: Around) {
    this.db = db;
    this.around = around;
  }
}

class BoundTransaction extends BoundQueries {
  readonly effects: Effects;

  constructor(db: Db, effects: Effects, around: Around) {
    super(db, around);
    this.effects = effects;
  }
}

/** So that a test can replace a method of one object. */
const replaceable = { configurable: true, writable: true };

type Run = (db: Db, ...args: readonly unknown[]) => Promise<unknown>;

for (const [name, query] of Object.entries(allQueries)) {
  Object.defineProperty(BoundQueries.prototype, name, {
    value(this: BoundQueries, ...args: readonly unknown[]) {
      return this.around(name, () => (query as Run)(this.db, ...args), args);
    },
    ...replaceable,
  });
}

for (const [name, mutation] of Object.entries(allMutations)) {
  const declared = mutation as unknown as MutationRules<readonly unknown[]> & { readonly run: Run };
  Object.defineProperty(BoundTransaction.prototype, name, {
    value(this: BoundTransaction, ...args: readonly unknown[]) {
      const run = async () => {
        await this.effects.add(name, declared, this.db, args);
        return declared.run(this.db, ...args);
      };
      return this.around(name, run, args);
    },
    ...replaceable,
  });
}

/** Binds every query to a database. */
export function queries(db: Db, around = directly): Queries {
  return new BoundQueries(db, around) as unknown as Queries;
}

/** Binds every query and every mutation to a transaction. */
export function transaction(db: Db, around = directly): Transaction {
  return new BoundTransaction(db, new Effects(), around) as unknown as Transaction;
}

/** Binds the statements of all features to databases and transactions. A metadata store gets it when it is opened. */
export const statements = { queries, transaction };

export type Statements = typeof statements;

/** The same queries, or the same transaction with its effects so far, with something around each call. */
export function callAround<T extends Queries>(bound: T, around: Around): T {
  const found: unknown = bound;
  if (found instanceof BoundTransaction) return new BoundTransaction(found.db, found.effects, around) as unknown as T;
  return found instanceof BoundQueries ? (new BoundQueries(found.db, around) as unknown as T) : bound;
}
