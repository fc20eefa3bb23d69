import { describe } from 'node:test';
import type { Backend } from './backend.ts';
import { accessContract } from './store/access.ts';
import { cascadesContract } from './store/cascades.ts';
import { concurrencyContract } from './store/concurrency.ts';
import { pluginsContract } from './store/plugins.ts';
import { recordsContract } from './store/records.ts';
import { revisionContract } from './store/revision.ts';
import { transactionsContract } from './store/transactions.ts';

/** What any implementation of `Store` must do. */
export function storeContract(name: string, backend: Backend): void {
  describe(`${name} as a Store`, () => {
    recordsContract(backend);
    pluginsContract(backend);
    accessContract(backend);
    cascadesContract(backend);
    transactionsContract(backend);
    revisionContract(backend);
    concurrencyContract(backend);
  });
}
