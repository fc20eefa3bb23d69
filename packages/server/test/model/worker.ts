import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openPostgresStore } from '../../src/db/postgres/store.ts';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import { statements } from '../../src/queries.ts';
import { runSequence, type Tally } from './run-sequence.ts';
import { openStage, type Stage } from './stage.ts';

/** The sequences of these seeds, one after the other. */
export interface Seeds {
  readonly firstSeed: number;
  readonly count: number;
}

export interface WhereToRun {
  /** A PostgreSQL database to run them on. Default: SQLite. */
  readonly databaseUrl?: string | undefined;
}

/** What became of them. */
export type ModelOutcome = { readonly tally: Tally } | { readonly failure: string };

/** Where there is no disk to wait for, if there is such a place: that a commit outlives a crash is others' to ask. */
function fastFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

async function runAll(stage: Stage, { firstSeed, count }: Seeds): Promise<ModelOutcome> {
  const tally: Tally = new Map();
  try {
    for (let seed = firstSeed; seed < firstSeed + count; seed++) await runSequence(stage, seed, tally);
    return { tally };
  } catch (error) {
    const { message, cause } = error as Error;
    return { failure: cause instanceof Error ? `${message}\n${cause.message}` : message };
  }
}

const { databaseUrl } = workerData as WhereToRun;
const folder = await mkdtemp(join(fastFolder(), 'tenon-model-'));
const removeFolder = () => rm(folder, { recursive: true });
const opening =
  databaseUrl === undefined
    ? openSqliteStore(statements, { file: join(folder, 'tenon.db') })
    : openPostgresStore(statements, { url: databaseUrl });
const store = await opening.catch(async (error: unknown) => {
  await removeFolder();
  throw error;
});
const stage = openStage(store);
parentPort?.on('message', async (seeds: Seeds | 'close') => {
  if (seeds !== 'close') {
    parentPort?.postMessage(await runAll(stage, seeds));
    return;
  }
  await store.close();
  await removeFolder();
  parentPort?.close();
});
