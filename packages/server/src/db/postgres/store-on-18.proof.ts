// In a file for each version, so that they run side by side.
import { postgresStoreContract } from '../../../test/contracts/postgres-store-contract.ts';

postgresStoreContract(18);
