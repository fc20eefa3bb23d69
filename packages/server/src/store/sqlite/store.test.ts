import { storeContract } from '../../../test/contracts/store-contract.ts';
import { backend } from '../../../test/helpers/stores.ts';

storeContract('openSqliteStore()', backend);
