import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { ContentAddress } from '@tenon/protocol';
import type { Context } from '../context.ts';
import { noteChore } from '../status/chores.ts';
import { blobKey } from './blob-key.ts';
import { takeLease } from './leases.ts';
import type { BlobDeletion, BlobRecord } from './ports.ts';
import { assertBlobsKnown, unknownObjects } from './unknown-objects.ts';

/** How many rows are looked at in one go. */
const batchSize = 500;

/** How many objects are deleted at once. */
const deleteConcurrency = 16;

/** How long a collector that has stopped keeps others from the work. */
const leaseMs = 5 * 60 * 1000;

/** After how long what was begun to be stored, and never finished, is certain to be what a crash left. */
const unfinishedAfterMs = 60 * 60 * 1000;

/** Unless it is forced, a run deletes no more than this share of all contents, or this many where that is more. */
export const maxDeletedShare = { share: 0.5, count: 10 } as const;

export interface CollectOptions {
  /** How long bytes stay that no version names, in milliseconds, counted from when a run first finds that. */
  readonly graceMs: number;
  /** Deletes also more than {@link maxDeletedShare}, and objects that no row knows. Default: `false`. */
  readonly isForced?: boolean;
  /** Starts every grace again, because the clock may have jumped, and deletes nothing whose grace had begun. Default: `false`. */
  readonly restartsGrace?: boolean;
  /** Changes nothing, and counts what would be deleted. Default: `false`. */
  readonly isDryRun?: boolean;
  /** Ends the work between two steps. */
  readonly signal?: AbortSignal;
}

/** The result of a garbage collection. */
export interface CollectResult {
  /** Contents whose grace the run began: no version names them. */
  readonly newlyUnused: number;
  /** Objects that were deleted, or in a dry run would be. */
  readonly deleted: number;
  readonly deletedBytes: number;
  /** Contents that no version names, and whose grace has not ended. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Contents that were due and were kept, since they are more than {@link maxDeletedShare}. */
  readonly heldBack: number;
  /** Objects that no row knows: a sign that the database has lost commits. They are kept, unless the run is forced. */
  readonly unknown: number;
  /** Remains of what was never stored to its end. */
  readonly unfinished: number;
  /** Set when nothing was marked for deletion because the store is being copied. */
  readonly isHeldByCopy: boolean;
}

type Deps = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Deletes the bytes that no version has named for the time of grace: of plugins, applications and accounts that were deleted,
 * and of publishes that failed. One process at a time does it, by a lease; it would harm nothing if two did.
 *
 * Two phases: a transaction takes the row away, and with it the generation that names the object; then the object is deleted, outside
 * of any transaction and however often. See {@link ./with-blob.ts} for why no publish is harmed by it.
 *
 * @returns `undefined` when another process is collecting
 * @throws UnknownBlobsError when the database knows none of the objects, and none at all
 */
export async function collect(context: Deps, options: CollectOptions): Promise<CollectResult | undefined> {
  await assertBlobsKnown(context);
  if (options.isDryRun) return previewCollect(context, options);
  const lease = await takeLease(context, 'collect', { lengthMs: leaseMs, isExclusive: true });
  if (lease === undefined) return undefined;
  try {
    const goOn = async (): Promise<void> => {
      await turnOfTheLoop();
      options.signal?.throwIfAborted();
      await lease.renew();
    };
    const { all, noted: newlyUnused } = await noteUnused(context, goOn, options);
    const heldBack = await countHeldBack(context, all, options);
    const isHeldByCopy = heldBack === 0 && !(await markForDeletion(context, options.graceMs, goOn));
    const marked = await deleteMarked(context, goOn);
    const { unknown, ...strays } = await deleteUnknownObjects(context, options.isForced === true, goOn);
    const [deleted, deletedBytes] = [marked.deleted + strays.deleted, marked.deletedBytes + strays.deletedBytes];
    const unfinished =
      options.restartsGrace === true ? 0 : await context.blobs.deleteUnfinished(context.clock() - unfinishedAfterMs);
    const { waiting, waitingBytes } = await countUnused(context, () => false, goOn);
    await noteChore(context, 'collect', { deleted, deletedBytes, waiting, waitingBytes });
    return {
      newlyUnused,
      deleted,
      deletedBytes,
      waiting,
      waitingBytes,
      heldBack,
      unknown,
      unfinished,
      isHeldByCopy,
    };
  } finally {
    await lease.release();
  }
}

/** To be called between any two pieces of work: lets requests have their turn, and throws when the work is to end. */
type Checkpoint = () => Promise<void>;

/** Starts the time of grace of what no version names. */
async function noteUnused(
  context: Deps,
  goOn: Checkpoint,
  { restartsGrace = false }: CollectOptions,
): Promise<{ readonly all: number; readonly noted: number }> {
  let [all, noted] = [0, 0];
  for await (const rows of pagesOfBlobs(context)) {
    await goOn();
    all += rows.length;
    const unused = rows.filter(({ isNamed, unusedSinceMs }) => !isNamed && (unusedSinceMs === null || restartsGrace));
    if (unused.length === 0) continue;
    const addresses = unused.map(({ address }) => address);
    noted += await context.store.writeLocking((tx) => tx.noteUnused(addresses, context.clock(), { restartsGrace }));
  }
  return { all, noted };
}

/** How many contents are due, when these are too many to be deleted unasked; else 0. */
async function countHeldBack(
  { store, clock }: Deps,
  all: number,
  { graceMs, isForced }: CollectOptions,
): Promise<number> {
  if (isForced === true) return 0;
  const nowMs = clock();
  const due = await store.read.countDueBlobs({ unusedSinceMs: nowMs - graceMs, nowMs });
  return due > Math.max(maxDeletedShare.count, maxDeletedShare.share * all) ? due : 0;
}

/** Marks for deletion what has been unused for the time of grace. @returns `false` when a copy of the store prevents that */
async function markForDeletion({ store, clock }: Deps, graceMs: number, goOn: Checkpoint): Promise<boolean> {
  for (;;) {
    await goOn();
    const outcome = await store.writeLocking(async (tx) => {
      const nowMs = clock();
      // In the same transaction: a copy that begins later copies a database in which these are named by nothing.
      if ((await tx.leaseHolders('copy', nowMs)).length > 0) return 'held';
      const marked = await tx.markForDeletion({ unusedSinceMs: nowMs - graceMs, nowMs, limit: batchSize });
      return marked.length === 0 ? 'done' : 'more';
    });
    if (outcome !== 'more') return outcome === 'done';
  }
}

/** Deletes what is marked for deletion, also what an earlier run was kept from deleting. */
async function deleteMarked(context: Deps, goOn: Checkpoint): Promise<Pick<CollectResult, 'deleted' | 'deletedBytes'>> {
  const { store, blobs } = context;
  let [deleted, deletedBytes] = [0, 0];
  for (;;) {
    await goOn();
    const batch: readonly BlobDeletion[] = await store.read.blobDeletions(deleteConcurrency);
    if (batch.length === 0) return { deleted, deletedBytes };
    await Promise.all(batch.map((deletion) => blobs.delete(blobKey(deletion))));
    await store.writeLocking((tx) => tx.deleteBlobDeletions(batch));
    deleted += batch.length;
    for (const { size } of batch) deletedBytes += size;
  }
}

/** Counts objects that no row knows, or deletes them. */
async function deleteUnknownObjects(
  context: Deps,
  isForced: boolean,
  goOn: Checkpoint,
): Promise<Pick<CollectResult, 'unknown' | 'deleted' | 'deletedBytes'>> {
  const counts = { unknown: 0, deleted: 0, deletedBytes: 0 };
  for await (const keys of unknownObjects(context)) {
    await goOn();
    for (const key of keys) {
      const size = await context.blobs.size(key);
      if (size === undefined) continue;
      if (!isForced) counts.unknown++;
      else if (await context.blobs.delete(key)) {
        counts.deleted++;
        counts.deletedBytes += size;
      }
    }
  }
  return counts;
}

/** What a run would do. */
async function previewCollect(context: Deps, options: CollectOptions): Promise<CollectResult> {
  const { graceMs, isForced, signal } = options;
  const endMs = context.clock() - graceMs;
  const goOn = async (): Promise<void> => {
    await turnOfTheLoop();
    signal?.throwIfAborted();
  };
  const isDue = ({ unusedSinceMs }: BlobRecord) => unusedSinceMs !== null && unusedSinceMs <= endMs;
  const { all, ...counts } = await countUnused(context, isDue, goOn);
  const heldBack = await countHeldBack(context, all, options);
  const { unknown } = await deleteUnknownObjects(context, false, goOn);
  const isHeldByCopy = (await context.store.read.leaseHolders('copy', context.clock())).length > 0;
  const none = { deleted: 0, deletedBytes: 0 };
  const found = { ...counts, ...(heldBack > 0 && none), heldBack, unknown, unfinished: 0, isHeldByCopy };
  return isForced === true ? { ...found, deleted: found.deleted + unknown, unknown: 0 } : found;
}

async function countUnused(
  context: Deps,
  isDue: (blob: BlobRecord) => boolean,
  goOn: Checkpoint,
): Promise<
  { readonly all: number } & Pick<
    CollectResult,
    'newlyUnused' | 'deleted' | 'deletedBytes' | 'waiting' | 'waitingBytes'
  >
> {
  const counts = { all: 0, newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0 };
  const nowMs = context.clock();
  for await (const rows of pagesOfBlobs(context)) {
    await goOn();
    counts.all += rows.length;
    for (const blob of rows) {
      if (blob.isNamed || blob.leaseUntilMs > nowMs) continue;
      if (blob.unusedSinceMs === null) counts.newlyUnused++;
      if (isDue(blob)) {
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

async function* pagesOfBlobs({ store }: Deps): AsyncGenerator<(BlobRecord & { readonly isNamed: boolean })[]> {
  let after: ContentAddress | undefined;
  for (;;) {
    const rows = await store.read.blobs({ after, limit: batchSize });
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)?.address;
  }
}
