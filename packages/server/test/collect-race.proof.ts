import { collectRaceContract } from './contracts/collect-race-contract.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as shared } from './helpers/s3-stores.ts';
import { backend as embedded } from './helpers/stores.ts';

collectRaceContract('SQLite and a folder', embedded);
if (noPostgres === false) collectRaceContract('PostgreSQL and an object store', shared);
