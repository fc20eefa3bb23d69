import { describe } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import { memoriesModel } from './contracts/memories-model.ts';
import { noPostgres } from './helpers/postgres.ts';
import { backend as postgres } from './helpers/postgres-stores.ts';
import { backend as sqlite } from './helpers/stores.ts';

describe('what two nodes keep in memory', () => {
  memoriesModel('SQLite', sqlite, { sequences: volume(2, 8), steps: 40 });
  memoriesModel('PostgreSQL', postgres, { sequences: 1, steps: volume(20, 60), skip: noPostgres });
});
