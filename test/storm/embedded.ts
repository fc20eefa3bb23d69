import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Disaster, killOneWorker } from './disasters.ts';
import type { House } from './house.ts';

/** A folder that all nodes share. */
export async function openEmbedded(): Promise<House> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tenon-storm-data-'));
  return {
    nodes: 3,
    config: { dataDir },
    environment: { TENON_DATA_DIR: dataDir },
    disasters: [isLocked(join(dataDir, 'tenon.db'))],
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** The same, with nodes that have several processes each. */
export async function openWorkers(): Promise<House> {
  const { environment, disasters, ...house } = await openEmbedded();
  return {
    ...house,
    nodes: 2,
    environment: { ...environment, TENON_WORKERS: '2' },
    disasters: [...disasters, killOneWorker],
  };
}

/** As by a backup program that takes its time. */
function isLocked(file: string): Disaster {
  return {
    name: 'database: another process writes',
    to: 'database',
    async strike(_, ms) {
      const database = new DatabaseSync(file, { timeout: 0 }); // waiting would hold up all who ask
      try {
        await untilBegun(database);
        await sleep(ms);
        database.exec('rollback');
      } finally {
        database.close();
      }
    },
  };
}

async function untilBegun(database: DatabaseSync): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return database.exec('begin immediate');
    } catch (error) {
      if (tries > 500) throw error;
      await sleep(10);
    }
  }
}
