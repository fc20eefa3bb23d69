import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { ContentAddress } from '@tenon/protocol';
import type { Context } from '../context.ts';
import { noteChore } from '../status/chores.ts';
import { takeLease } from './leases.ts';
import type { BlobRecord } from './ports.ts';

/** How many rows or files are looked at in one go. */
const batchSize = 500;

/** How many files are deleted in one transaction, which nobody else writes beside. */
const deletionsAtOnce = 16;

/** How long a collector that has stopped keeps others from the work. */
const leaseMs = 5 * 60 * 1000;

/** After how long what was begun to be stored, and never finished, is certain to be what a crash left. */
const unfinishedAfterMs = 60 * 60 * 1000;

export interface CollectOptions {
  /** How long bytes stay that no version names, in milliseconds, counted from when a run first finds that. */
  readonly graceMs: number;
  /** Changes nothing, and counts what would be deleted. Default: `false`. */
  readonly isDryRun?: boolean;
  /** Ends the work between two steps. */
  readonly signal?: AbortSignal;
}

/** What a run of the collector came to. */
export interface Collected {
  /** Blobs that no row knew of: left by a crash of a version before there were rows, or put there by hand. */
  readonly adopted: number;
  /** Blobs that were newly found to be named by no version. */
  readonly newlyUnused: number;
  /** Blobs that were deleted, or in a dry run would be. */
  readonly deleted: number;
  readonly deletedBytes: number;
  /** Blobs that no version names, and whose grace has not ended. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Remains of what was never stored to its end. */
  readonly unfinished: number;
  /** Set when nothing was deleted because a backup is being made. */
  readonly isHeldByBackup: boolean;
}

type Parts = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Deletes the bytes that no version has named for the time of grace: of plugins, applications and accounts that were deleted,
 * and of publishes that came to nothing. One process at a time does it, by a lease; it would harm nobody if two did.
 *
 * Nothing that a version names is deleted, whatever the rows of blobs say: both transactions that a blob goes through on its
 * way out ask the versions themselves. See {@link ./with-blob.ts} for how publishes of the same bytes are kept from harm.
 *
 * @returns `undefined` when another process is at it
 */
export async function collect(context: Parts, options: CollectOptions): Promise<Collected | undefined> {
  if (options.isDryRun) return lookAround(context, options);
  const lease = await takeLease(context, 'collect', { lengthMs: leaseMs, isExclusive: true });
  if (lease === undefined) return undefined;
  try {
    const goOn = async (): Promise<void> => {
      await turnOfTheLoop();
      options.signal?.throwIfAborted();
      await lease.renew();
    };
    const adopted = await adoptFiles(context, goOn);
    const newlyUnused = await noteUnused(context, goOn);
    const isHeldByBackup = !(await condemn(context, options.graceMs, goOn));
    const { deleted, deletedBytes } = await deleteCondemned(context, goOn);
    const unfinished = await context.blobs.deleteUnfinished(context.clock() - unfinishedAfterMs);
    const { waiting, waitingBytes } = await countUnused(context, () => false, goOn);
    await noteChore(context, 'collect', { deleted, deletedBytes, waiting, waitingBytes });
    return { adopted, newlyUnused, deleted, deletedBytes, waiting, waitingBytes, unfinished, isHeldByBackup };
  } finally {
    await lease.release();
  }
}

/** To be called between any two pieces of work: lets requests have their turn, and throws when the work is to end. */
type GoOn = () => Promise<void>;

/** Makes rows for files that have none. A publish makes its row before its file, so these belong to none that is under way. */
async function adoptFiles(context: Parts, goOn: GoOn): Promise<number> {
  let adopted = 0;
  for await (const addresses of batches(context.blobs.list())) {
    await goOn();
    const unknown = await unknownOf(context, addresses);
    const found: Pick<BlobRecord, 'address' | 'size' | 'epoch'>[] = [];
    for (const address of unknown) {
      const size = await context.blobs.size(address);
      if (size !== undefined) found.push({ address, size, epoch: newEpoch(context) });
    }
    if (found.length > 0) await context.store.write((tx) => tx.adoptBlobs(found));
    adopted += found.length;
  }
  return adopted;
}

async function unknownOf({ store }: Parts, addresses: readonly ContentAddress[]): Promise<ContentAddress[]> {
  const known = new Set(await store.read.knownBlobs(addresses));
  return addresses.filter((address) => !known.has(address));
}

function newEpoch({ random }: Parts): string {
  return Buffer.from(random(12)).toString('base64url');
}

/** Starts the time of grace of what no version names. */
async function noteUnused(context: Parts, goOn: GoOn): Promise<number> {
  let noted = 0;
  for await (const rows of pagesOfBlobs(context)) {
    await goOn();
    const unused = rows.filter(({ isNamed, unusedSinceMs }) => !isNamed && unusedSinceMs === null);
    if (unused.length === 0) continue;
    const addresses = unused.map(({ address }) => address);
    noted += await context.store.write((tx) => tx.noteUnused(addresses, context.clock()));
  }
  return noted;
}

/** Begins to delete what has been unused for the time of grace. @returns `false` when a backup keeps it from that */
async function condemn({ store, clock }: Parts, graceMs: number, goOn: GoOn): Promise<boolean> {
  for (;;) {
    await goOn();
    const outcome = await store.write(async (tx) => {
      const nowMs = clock();
      // In the same transaction: a backup that begins later copies a database in which these are named by nothing.
      if ((await tx.leaseHolders('backup', nowMs)).length > 0) return 'held';
      const found = await tx.condemnBlobs({ unusedSinceMs: nowMs - graceMs, nowMs, limit: batchSize });
      return found.length === 0 ? 'done' : 'more';
    });
    if (outcome !== 'more') return outcome === 'done';
  }
}

/** Deletes what is being deleted, also what an earlier run was kept from finishing. */
async function deleteCondemned(context: Parts, goOn: GoOn): Promise<Pick<Collected, 'deleted' | 'deletedBytes'>> {
  let [deleted, deletedBytes] = [0, 0];
  let after: ContentAddress | undefined;
  for (;;) {
    await goOn();
    const batch = await context.store.read.blobsBeingDeleted({ after, limit: deletionsAtOnce });
    for (const { size } of await deleteBatch(context, batch)) {
      deleted++;
      deletedBytes += size;
    }
    after = batch.at(-1)?.address;
    if (after === undefined) return { deleted, deletedBytes };
  }
}

/** @returns those that were not taken back meanwhile */
function deleteBatch({ store, blobs }: Parts, batch: readonly BlobRecord[]): Promise<BlobRecord[]> {
  return store.write(async (tx) => {
    const deleted: BlobRecord[] = [];
    for (const blob of batch) {
      if (!(await tx.dropBlob(blob.address))) continue;
      // Within the transaction, though it is no part of the store: its lock keeps a publish of the same bytes from taking
      // them back between the look and the deletion, also when this process stands still here for an hour.
      await blobs.delete(blob.address);
      deleted.push(blob);
    }
    return deleted;
  });
}

/** What a run would do. Files without a row count as unused since now. */
async function lookAround(context: Parts, { graceMs, signal }: CollectOptions): Promise<Collected> {
  const endMs = context.clock() - graceMs;
  const goOn = async (): Promise<void> => {
    await turnOfTheLoop();
    signal?.throwIfAborted();
  };
  let adopted = 0;
  for await (const addresses of batches(context.blobs.list())) {
    await goOn();
    adopted += (await unknownOf(context, addresses)).length;
  }
  const isDue = ({ unusedSinceMs }: BlobRecord) => unusedSinceMs !== null && unusedSinceMs <= endMs;
  const counts = await countUnused(context, isDue, goOn);
  const isHeldByBackup = (await context.store.read.leaseHolders('backup', context.clock())).length > 0;
  return { adopted, ...counts, unfinished: 0, isHeldByBackup };
}

async function countUnused(
  context: Parts,
  isDue: (blob: BlobRecord) => boolean,
  goOn: GoOn,
): Promise<Pick<Collected, 'newlyUnused' | 'deleted' | 'deletedBytes' | 'waiting' | 'waitingBytes'>> {
  const counts = { newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0 };
  const nowMs = context.clock();
  for await (const rows of pagesOfBlobs(context)) {
    await goOn();
    for (const blob of rows) {
      if (blob.isNamed || blob.leaseUntilMs > nowMs) continue;
      if (blob.unusedSinceMs === null) counts.newlyUnused++;
      if (blob.state === 'deleting' || isDue(blob)) {
        counts.deleted++;
        counts.deletedBytes += blob.size;
      } else {
        counts.waiting++;
        counts.waitingBytes += blob.size;
      }
    }
  }
  return counts;
}

async function* pagesOfBlobs({ store }: Parts): AsyncGenerator<(BlobRecord & { readonly isNamed: boolean })[]> {
  let after: ContentAddress | undefined;
  for (;;) {
    const rows = await store.read.blobs({ after, limit: batchSize });
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)?.address;
  }
}

async function* batches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
