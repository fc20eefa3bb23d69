import { publishCrashContract } from './contracts/publish-crash-contract.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as shared } from './helpers/s3-stores.ts';
import { backend as embedded } from './helpers/stores.ts';

publishCrashContract('SQLite and a folder', embedded);
if (noPostgres === false) publishCrashContract('PostgreSQL and an object store', shared);
