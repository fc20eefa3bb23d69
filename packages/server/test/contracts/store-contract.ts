import { describe } from 'node:test';
import type { Backend } from './backend.ts';
import { accessContract } from './store/access.ts';
import { accountsContract } from './store/accounts.ts';
import { auditContract } from './store/audit.ts';
import { authorizationsContract } from './store/authorizations.ts';
import { cascadesContract } from './store/cascades.ts';
import { newsContract } from './store/changes.ts';
import { concurrencyContract } from './store/concurrency.ts';
import { endedContract } from './store/ended.ts';
import { erasureContract } from './store/erasure.ts';
import { mailsContract } from './store/mails.ts';
import { maintenanceContract } from './store/maintenance.ts';
import { pluginsContract } from './store/plugins.ts';
import { quotasContract } from './store/quotas.ts';
import { recordsContract } from './store/records.ts';
import { commitsContract, revisionContract } from './store/revision.ts';
import { simulationRunsContract } from './store/simulation-runs.ts';
import { simulationsContract } from './store/simulations.ts';
import { statusContract } from './store/status.ts';
import { transactionsContract } from './store/transactions.ts';
import { usageContract } from './store/usage.ts';
import { versionsContract } from './store/versions.ts';
import { withdrawalsContract } from './store/withdrawals.ts';

/** What any implementation of `Store` must do. */
export function storeContract(name: string, backend: Backend): void {
  describe(`${name} as a Store`, () => {
    recordsContract(backend);
    accountsContract(backend);
    authorizationsContract(backend);
    pluginsContract(backend);
    versionsContract(backend);
    withdrawalsContract(backend);
    accessContract(backend);
    cascadesContract(backend);
    erasureContract(backend);
    endedContract(backend);
    auditContract(backend);
    newsContract(backend);
    maintenanceContract(backend);
    statusContract(backend);
    transactionsContract(backend);
    revisionContract(backend);
    commitsContract(backend);
    concurrencyContract(backend);
    usageContract(backend);
    mailsContract(backend);
    quotasContract(backend);
    simulationsContract(backend);
    simulationRunsContract(backend);
  });
}
