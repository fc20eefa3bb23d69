import type { Queries, Transaction } from '../../domain/ports.ts';
import { appMutations, appQueries } from './apps.ts';
import { auditMutations, auditQueries } from './audit.ts';
import { authorizationMutations, authorizationQueries } from './authorizations.ts';
import { bindingFactsQueries } from './binding-facts.ts';
import { bindingMutations, bindingQueries } from './bindings.ts';
import { blobMutations, blobQueries } from './blobs.ts';
import type { Db } from './db.ts';
import { deletionMutations, deletionQueries } from './deletions.ts';
import { endedMutations } from './ended.ts';
import { extensionPointMutations, extensionPointQueries } from './extension-points.ts';
import { guestMutations, guestQueries } from './guests.ts';
import { invitationMutations, invitationQueries } from './invitations.ts';
import { leaseMutations, leaseQueries } from './leases.ts';
import { newsMutations, newsQueries } from './news.ts';
import { oneTimeLinkMutations, oneTimeLinkQueries } from './one-time-links.ts';
import { operatorMutations, operatorQueries } from './operators.ts';
import { pluginMutations, pluginQueries } from './plugins.ts';
import { processMutations, processQueries } from './processes.ts';
import { quotaMutations, quotaQueries } from './quotas.ts';
import { sessionMutations, sessionQueries } from './sessions.ts';
import { tokenMutations, tokenQueries } from './tokens.ts';
import { userMutations, userQueries } from './users.ts';
import { versionMutations, versionQueries } from './versions.ts';
import { withdrawalMutations, withdrawalQueries } from './withdrawals.ts';

/** Every question of the port, in SQL that SQLite and PostgreSQL read alike. */
export function queries(db: Db): Queries {
  return {
    ...userQueries(db),
    ...sessionQueries(db),
    ...oneTimeLinkQueries(db),
    ...authorizationQueries(db),
    ...appQueries(db),
    ...extensionPointQueries(db),
    ...guestQueries(db),
    ...invitationQueries(db),
    ...pluginQueries(db),
    ...deletionQueries(db),
    ...versionQueries(db),
    ...withdrawalQueries(db),
    ...bindingQueries(db),
    ...quotaQueries(db),
    ...bindingFactsQueries(db),
    ...tokenQueries(db),
    ...blobQueries(db),
    ...leaseQueries(db),
    ...auditQueries(db),
    ...newsQueries(db),
    ...operatorQueries(db),
    ...processQueries(db),
  };
}

/** Every question and every change of the port. */
export function transaction(db: Db): Transaction {
  return {
    ...queries(db),
    ...userMutations(db),
    ...sessionMutations(db),
    ...oneTimeLinkMutations(db),
    ...authorizationMutations(db),
    ...endedMutations(db),
    ...appMutations(db),
    ...extensionPointMutations(db),
    ...guestMutations(db),
    ...invitationMutations(db),
    ...pluginMutations(db),
    ...deletionMutations(db),
    ...versionMutations(db),
    ...withdrawalMutations(db),
    ...bindingMutations(db),
    ...quotaMutations(db),
    ...tokenMutations(db),
    ...blobMutations(db),
    ...leaseMutations(db),
    ...auditMutations(db),
    ...newsMutations(db),
    ...operatorMutations(db),
    ...processMutations(db),
  };
}
