import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../helpers/until.ts';
import { type Disruption, killWorker } from './disruptions.ts';
import type { Environment } from './environment.ts';

/** Nodes that share a data folder. */
export async function openEmbedded(): Promise<Environment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tenon-chaos-data-'));
  return {
    nodeCount: 3,
    config: { dataDir },
    settings: { TENON_DATA_DIR: dataDir },
    disruptions: [lockDatabase(join(dataDir, 'tenon.db'))],
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** Nodes that share a data folder and have two worker processes each. */
export async function openWorkers(): Promise<Environment> {
  const { settings, disruptions, ...environment } = await openEmbedded();
  return {
    ...environment,
    nodeCount: 2,
    settings: { ...settings, TENON_WORKERS: '2' },
    disruptions: [...disruptions, killWorker],
  };
}

/** Holds the write lock, as a slow backup program does. */
function lockDatabase(file: string): Disruption {
  return {
    name: 'database: locked by another process',
    target: 'database',
    async run(_, ms) {
      const database = new DatabaseSync(file, { timeout: 0 }); // waiting for the lock would block this process
      const begin = (): boolean => {
        try {
          database.exec('begin immediate');
          return true;
        } catch {
          return false;
        }
      };
      try {
        await until(begin);
        await sleep(ms);
        database.exec('rollback');
      } finally {
        database.close();
      }
    },
  };
}
