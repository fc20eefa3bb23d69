import { lateDeletionsContract } from './contracts/late-deletions-contract.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as shared } from './helpers/s3-stores.ts';
import { backend as embedded } from './helpers/stores.ts';

lateDeletionsContract('SQLite and a folder', embedded);
if (noPostgres === false) lateDeletionsContract('PostgreSQL and an object store', shared);
