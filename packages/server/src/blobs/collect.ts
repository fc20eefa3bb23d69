import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { blobKey } from '../db/blob-key.ts';
import type { BlobDeletion, BlobRecord } from '../db/blob-records.ts';
import { readAllPages } from '../db/paging.ts';
import { StorageFullError, UnavailableError } from '../db/store.ts';
import type { Context } from '../deps.ts';
import { takeLease } from './leases.ts';
import { assertBlobsKnown, unknownObjects } from './unknown-objects.ts';

/** How many rows one query reads, or one transaction marks for deletion. */
const batchSize = 500;

/** How many objects are deleted concurrently. */
const deleteConcurrency = 16;

/** How long other processes wait for a garbage collection whose process has crashed. */
const leaseMs = 5 * 60 * 1000;

/** An incomplete upload is a remainder of a crash after this time. */
const unfinishedAfterMs = 60 * 60 * 1000;

/**
 * The most that a run deletes unless it is forced: this share of all blobs, or this number if that is more. It limits the damage
 * when versions were lost by mistake.
 */
const maxDeletedShare = { share: 0.5, count: 10 } as const;

export interface CollectOptions {
  /** The grace period: how long an unreferenced blob is kept, from the run that first finds it unreferenced. */
  readonly graceMs: number;
  /** Also deletes more than {@link maxDeletedShare}, and objects without a row. Default: `false`. */
  readonly isForced?: boolean;
  /** Restarts all grace periods, because the clock may have jumped. Default: `false`. */
  readonly restartsGrace?: boolean;
  /** Changes nothing, and counts what a run would delete. Default: `false`. */
  readonly isDryRun?: boolean;
  /** Aborts between two batches. */
  readonly signal?: AbortSignal;
}

/** The result of a garbage collection. */
export interface CollectResult {
  /** Blobs whose grace period began with this run. */
  readonly newlyUnused: number;
  /** Objects that were deleted, or in a dry run would be. */
  readonly deleted: number;
  readonly deletedBytes: number;
  /** Unreferenced blobs whose grace period has not ended. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Blobs that were due and were kept, because they exceed {@link maxDeletedShare}. */
  readonly heldBack: number;
  /** Objects without a row. They show that the database has lost commits. They are kept unless the run is forced. */
  readonly unknown: number;
  /** Incomplete uploads that were deleted. */
  readonly unfinished: number;
  /** Whether a running copy of the store prevented that blobs were marked for deletion. */
  readonly isHeldByCopy: boolean;
}

type Deps = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Garbage collection: deletes blobs that no version has referenced for the grace period. Such blobs belonged to deleted plugins,
 * applications and accounts, or to failed publishes. A lease makes sure that one process at a time collects. Two would do no harm.
 *
 * It is a two-phase delete. First a transaction deletes the row, and with it the generation that identifies the object. Then the
 * object is deleted outside of any transaction, and again if that fails. {@link ./with-blob.ts} explains why this is safe for
 * concurrent publishes.
 *
 * @returns `undefined` if another process is collecting
 * @throws UnknownBlobsError if the database is empty and the blob store is not
 */
export async function collect(context: Deps, options: CollectOptions): Promise<CollectResult | undefined> {
  await assertBlobsKnown(context);
  if (options.isDryRun) return previewCollect(context, options);
  if (await hasNothingToDelete(context, options)) {
    const others = await context.store.read.leaseHolders('collect', context.clock());
    return others.length > 0 ? undefined : nothingDeleted(context, options);
  }
  const lease = await takeLease(context, 'collect', { lengthMs: leaseMs, isExclusive: true });
  if (lease === undefined) return undefined;
  try {
    const checkpoint = async (): Promise<void> => {
      await yieldToEventLoop();
      options.signal?.throwIfAborted();
      await lease.renew();
    };
    const { all, newlyUnused } = await startGracePeriods(context, checkpoint, options);
    const heldBack = await countHeldBack(context, all, options);
    const isHeldByCopy = heldBack === 0 && !(await markForDeletion(context, options.graceMs, checkpoint));
    const marked = await deleteMarked(context, checkpoint);
    const { unknown, ...withoutRow } = await deleteUnknownObjects(context, options.isForced === true, checkpoint);
    const deleted = marked.deleted + withoutRow.deleted;
    const deletedBytes = marked.deletedBytes + withoutRow.deletedBytes;
    const unfinished =
      options.restartsGrace === true ? 0 : await context.blobs.deleteUnfinished(context.clock() - unfinishedAfterMs);
    const { waiting, waitingBytes } = await countUnused(context, () => false, checkpoint);
    await recordRun(context);
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

/** Whether all bytes are named by a version: then the run needs no lease, so that an idle server writes nothing. */
async function hasNothingToDelete(context: Deps, options: CollectOptions): Promise<boolean> {
  if ((await context.store.read.blobDeletions(1)).length > 0) return false;
  const { deleted, waiting, unknown } = await previewCollect(context, { ...options, isForced: true });
  return deleted + waiting + unknown === 0;
}

async function nothingDeleted(context: Deps, { graceMs, restartsGrace }: CollectOptions): Promise<CollectResult> {
  const nowMs = context.clock();
  const unfinished = restartsGrace === true ? 0 : await context.blobs.deleteUnfinished(nowMs - unfinishedAfterMs);
  const last = (await context.store.read.chores()).find(({ kind }) => kind === 'collect');
  const sinceMs = nowMs - (last?.endedAtMs ?? 0);
  if (sinceMs < 0 || sinceMs >= graceMs / 2) await recordRun(context); // a jump of the clock is noticed by it
  const none = { newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0, heldBack: 0, unknown: 0 };
  return { ...none, unfinished, isHeldByCopy: false };
}

/** Records when the run ended. A store that is full or takes no changes is left as it is. */
async function recordRun({ store, clock }: Deps): Promise<void> {
  try {
    await store.write((tx) => tx.putChore({ kind: 'collect', endedAtMs: clock(), outcome: {} }));
  } catch (error) {
    if (!(error instanceof UnavailableError || error instanceof StorageFullError)) throw error;
  }
}

/** Called between two batches. Yields to requests, renews the lease, and throws if the run was aborted. */
type Checkpoint = () => Promise<void>;

/**
 * Starts the grace periods of blobs that are no longer referenced.
 *
 * @returns the number of all blobs, and of those whose grace period began
 */
async function startGracePeriods(
  context: Deps,
  checkpoint: Checkpoint,
  { restartsGrace = false }: CollectOptions,
): Promise<{ readonly all: number; readonly newlyUnused: number }> {
  let [all, newlyUnused] = [0, 0];
  for await (const rows of pagesOfBlobs(context)) {
    await checkpoint();
    all += rows.length;
    const unused = rows.filter(
      ({ isReferenced, unusedSinceMs }) => !isReferenced && (unusedSinceMs === null || restartsGrace),
    );
    if (unused.length === 0) continue;
    const addresses = unused.map(({ address }) => address);
    const options = { restartsGrace };
    newlyUnused += await context.store.writeLocking((tx) => tx.markUnused(addresses, context.clock(), options));
  }
  return { all, newlyUnused };
}

/** Returns the number of due blobs if it exceeds {@link maxDeletedShare}, and 0 otherwise. */
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

/**
 * Marks blobs for deletion whose grace period has ended.
 *
 * @returns `false` if a running copy of the store prevents it
 */
async function markForDeletion({ store, clock }: Deps, graceMs: number, checkpoint: Checkpoint): Promise<boolean> {
  for (;;) {
    await checkpoint();
    const outcome = await store.writeLocking(async (tx) => {
      const nowMs = clock();
      // In the same transaction, so that a copy that begins later doesn't contain references to these blobs.
      if ((await tx.leaseHolders('copy', nowMs)).length > 0) return 'held';
      const marked = await tx.markForDeletion({ unusedSinceMs: nowMs - graceMs, nowMs, limit: batchSize });
      return marked.length === 0 ? 'done' : 'more';
    });
    if (outcome !== 'more') return outcome === 'done';
  }
}

/** Deletes the objects that are marked for deletion, including those that an earlier run failed to delete. */
async function deleteMarked(
  context: Deps,
  checkpoint: Checkpoint,
): Promise<Pick<CollectResult, 'deleted' | 'deletedBytes'>> {
  const { store, blobs } = context;
  let [deleted, deletedBytes] = [0, 0];
  for (;;) {
    await checkpoint();
    const batch: readonly BlobDeletion[] = await store.read.blobDeletions(deleteConcurrency);
    if (batch.length === 0) return { deleted, deletedBytes };
    await Promise.all(batch.map((deletion) => blobs.delete(blobKey(deletion))));
    await store.writeLocking((tx) => tx.deleteBlobDeletions(batch));
    deleted += batch.length;
    for (const { size } of batch) deletedBytes += size;
  }
}

/** Deletes objects without a row. Only counts them, as `unknown`, unless the run is forced. */
async function deleteUnknownObjects(
  context: Deps,
  isForced: boolean,
  checkpoint: Checkpoint,
): Promise<Pick<CollectResult, 'unknown' | 'deleted' | 'deletedBytes'>> {
  const counts = { unknown: 0, deleted: 0, deletedBytes: 0 };
  for await (const keys of unknownObjects(context)) {
    await checkpoint();
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

/** Returns the expected result of a run, without changing anything. */
async function previewCollect(context: Deps, options: CollectOptions): Promise<CollectResult> {
  const { graceMs, isForced, signal } = options;
  const dueBeforeMs = context.clock() - graceMs;
  const checkpoint = async (): Promise<void> => {
    await yieldToEventLoop();
    signal?.throwIfAborted();
  };
  const isDue = ({ unusedSinceMs }: BlobRecord) => unusedSinceMs !== null && unusedSinceMs <= dueBeforeMs;
  const { all, ...counts } = await countUnused(context, isDue, checkpoint);
  const heldBack = await countHeldBack(context, all, options);
  const { unknown } = await deleteUnknownObjects(context, false, checkpoint);
  const isHeldByCopy = (await context.store.read.leaseHolders('copy', context.clock())).length > 0;
  const nothingDeleted = { deleted: 0, deletedBytes: 0 };
  const result = { ...counts, ...(heldBack > 0 && nothingDeleted), heldBack, unknown, unfinished: 0, isHeldByCopy };
  return isForced === true ? { ...result, deleted: result.deleted + unknown, unknown: 0 } : result;
}

/** Counts unreferenced blobs: as `deleted` those that are due, and as `waiting` the others. */
async function countUnused(
  context: Deps,
  isDue: (blob: BlobRecord) => boolean,
  checkpoint: Checkpoint,
): Promise<
  { readonly all: number } & Pick<
    CollectResult,
    'newlyUnused' | 'deleted' | 'deletedBytes' | 'waiting' | 'waitingBytes'
  >
> {
  const counts = { all: 0, newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0 };
  const nowMs = context.clock();
  for await (const rows of pagesOfBlobs(context)) {
    await checkpoint();
    counts.all += rows.length;
    for (const blob of rows) {
      if (blob.isReferenced || blob.leaseUntilMs > nowMs) continue;
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

function pagesOfBlobs({ store }: Deps) {
  return readAllPages(
    batchSize,
    ({ address }: BlobRecord) => address,
    (page) => store.read.blobs(page),
  );
}
