import { type BlobKey, parseBlobKey } from '../domain/housekeeping/blob-key.ts';
import type { Db } from '../store/kysely/db.ts';
import { freezesOf, setFreeze } from '../store/kysely/freeze.ts';
import { copiedTables } from '../store/kysely/tables.ts';
import type { End } from './end.ts';
import { MigrateStoreError } from './errors.ts';
import { rowsOf } from './rows.ts';

/**
 * Makes sure that data may be moved from the one to the other, and keeps servers from writing to the target until it has arrived. A
 * target that an earlier move from the same source did not finish is gone on with.
 *
 * @returns the contents that are in the target already
 * @throws MigrateStoreError; the source is as it was then, and so is a target that holds something
 */
export async function claimTarget(source: End, target: End): Promise<Set<BlobKey>> {
  if (source.place.metadata === target.place.metadata) throw sameStore();
  const [ofSource, ofTarget] = [await freezesOf(source.metadata.db), await freezesOf(target.metadata.db)];
  const isResumed = ofTarget.some(({ kind, holder }) => kind === 'arriving' && holder === source.place.metadata);
  if (ofSource.some(({ kind }) => kind === 'arriving')) {
    throw new MigrateStoreError('arriving', 'The data that is to be moved has not all arrived there itself.');
  }
  const moved = ofSource.find(({ kind }) => kind === 'moved');
  if (moved !== undefined && !(isResumed && moved.holder === target.place.metadata)) {
    throw new MigrateStoreError('moved', 'The data was moved to another store before, and lives on there.');
  }
  const claim = (holder: string) => setArriving(target, holder);
  if (!isResumed) {
    await demandEmpty(target.metadata.db);
    await demandNoBytes(source, target);
    if (ofTarget.some((freeze) => freeze.holder !== unclaimed)) throw notEmpty('data from elsewhere is arriving there');
    await claim(unclaimed);
    try {
      await demandOther(source);
      await target.metadata.snapshot(true, demandEmpty); // also of what was on its way in before
    } catch (error) {
      await target.metadata.refreeze((db) => setFreeze(db, undefined));
      throw error;
    }
  }
  const present = await contentsOf(source, target, isResumed);
  await claim(source.place.metadata);
  return present;
}

/** Who holds a target that is frozen, and not known to be empty yet. */
const unclaimed = 'nobody yet';

async function setArriving({ metadata }: End, holder: string): Promise<void> {
  await metadata.refreeze((db) => setFreeze(db, { kind: 'arriving', holder }));
}

async function demandEmpty(db: Db): Promise<void> {
  for (const table of copiedTables) {
    if (!(await rowsOf(db, table, false).next()).done) throw notEmpty(`its table ${table.name} has rows`);
  }
}

async function demandNoBytes(source: End, target: End): Promise<void> {
  if (source.place.blobs === target.place.blobs) return;
  for await (const key of target.blobs.list()) {
    throw notEmpty(`there are bytes in it, of ${parseBlobKey(key).address} for one`);
  }
}

/** Two names of an empty database are told apart from two databases by what is written into one. */
async function demandOther(source: End): Promise<void> {
  if ((await freezesOf(source.metadata.db)).some(({ kind }) => kind === 'arriving')) throw sameStore();
}

async function contentsOf(source: End, target: End, isResumed: boolean): Promise<Set<BlobKey>> {
  const isShared = source.place.blobs === target.place.blobs;
  return isResumed || isShared ? new Set(await Array.fromAsync(target.blobs.list())) : new Set();
}

function sameStore(): MigrateStoreError {
  return new MigrateStoreError('same_store', 'The data is there already: both settings name the same store.');
}

function notEmpty(reason: string): MigrateStoreError {
  return new MigrateStoreError('not_empty', `Cannot move data into a store that is not empty: ${reason}.`);
}
