import { describe } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import { cacheModel } from './contracts/cache-model.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as postgres } from './helpers/postgres-stores.ts';
import { backend as sqlite } from './helpers/stores.ts';

describe('what two nodes cache', () => {
  cacheModel('SQLite', sqlite, { sequences: volume(2, 8), steps: 40 });
  cacheModel('PostgreSQL', postgres, { sequences: 1, steps: volume(20, 60), skip: noPostgres });
});
