import { largeChangesContract } from './contracts/large-changes-contract.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as onPostgres } from './helpers/postgres-stores.ts';
import { backend } from './helpers/stores.ts';

largeChangesContract('SQLite', backend);
if (noPostgres === false) largeChangesContract('PostgreSQL', onPostgres);
