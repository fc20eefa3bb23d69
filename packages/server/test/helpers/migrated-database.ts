import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import { statements } from '../../src/queries.ts';

let database: Promise<Buffer> | undefined;

/** Puts an empty database with the newest schema into a data folder: to migrate one takes longer than most tests. */
export async function placeMigratedDatabase(dataDir: string): Promise<void> {
  database ??= migrate();
  await writeFile(join(dataDir, 'tenon.db'), await database, { mode: 0o600, flag: 'wx' });
}

async function migrate(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-migrated-'));
  const file = join(folder, 'tenon.db');
  await (await openSqliteStore(statements, { file })).close();
  const bytes = await readFile(file);
  await rm(folder, { recursive: true });
  return bytes;
}
