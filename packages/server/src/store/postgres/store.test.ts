import { storeContract } from '../../../test/contracts/store-contract.ts';
import { backend } from '../../../test/helpers/postgres-stores.ts';

storeContract('openPostgresStore()', backend);
