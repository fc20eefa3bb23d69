import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { blobKey } from '../db/blob-key.ts';
import type { BlobDeletion, BlobRecord } from '../db/blob-records.ts';
import { readAllPages } from '../db/paging.ts';
import { StorageFullError, UnavailableError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
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
  readonly postponed: number;
  /** Objects without a row. They show that the database has lost commits. They are kept unless the run is forced. */
  readonly unknown: number;
  /** Incomplete uploads that were deleted. */
  readonly unfinished: number;
  /** Whether a running copy of the store prevented that blobs were marked for deletion. */
  readonly isHeldByCopy: boolean;
}

type JobDeps = Pick<Deps, 'store' | 'blobs' | 'clock' | 'random'>;

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
export async function collect(deps: JobDeps, options: CollectOptions): Promise<CollectResult | undefined> {
  await assertBlobsKnown(deps);
  if (options.isDryRun) return previewCollect(deps, options);
  if (await hasNothingToDelete(deps, options)) {
    const others = await deps.store.read.leaseHolders('collect', deps.clock());
    return others.length > 0 ? undefined : nothingDeleted(deps, options);
  }
  const lease = await takeLease(deps, 'collect', { lengthMs: leaseMs, isExclusive: true });
  if (lease === undefined) return undefined;
  try {
    const checkpoint = async (): Promise<void> => {
      await yieldToEventLoop();
      options.signal?.throwIfAborted();
      await lease.renew();
    };
    const { all, newlyUnused } = await startGracePeriods(deps, checkpoint, options);
    const postponed = await countPostponed(deps, all, options);
    const isHeldByCopy = postponed === 0 && !(await markForDeletion(deps, options.graceMs, checkpoint));
    const marked = await deleteMarked(deps, checkpoint);
    const { unknown, ...withoutRow } = await deleteUnknownObjects(deps, options.isForced === true, checkpoint);
    const deleted = marked.deleted + withoutRow.deleted;
    const deletedBytes = marked.deletedBytes + withoutRow.deletedBytes;
    const unfinished =
      options.restartsGrace === true ? 0 : await deps.blobs.deleteUnfinished(deps.clock() - unfinishedAfterMs);
    const { waiting, waitingBytes } = await countUnused(deps, () => false, checkpoint);
    await recordRun(deps);
    return {
      newlyUnused,
      deleted,
      deletedBytes,
      waiting,
      waitingBytes,
      postponed,
      unknown,
      unfinished,
      isHeldByCopy,
    };
  } finally {
    await lease.release();
  }
}

/** Whether versions reference all blobs. The run then needs no lease, so that an idle server writes nothing. */
async function hasNothingToDelete(deps: JobDeps, options: CollectOptions): Promise<boolean> {
  if ((await deps.store.read.blobDeletions(1)).length > 0) return false;
  const { deleted, waiting, unknown } = await previewCollect(deps, { ...options, isForced: true });
  return deleted + waiting + unknown === 0;
}

async function nothingDeleted(deps: JobDeps, { graceMs, restartsGrace }: CollectOptions): Promise<CollectResult> {
  const nowMs = deps.clock();
  const unfinished = restartsGrace === true ? 0 : await deps.blobs.deleteUnfinished(nowMs - unfinishedAfterMs);
  const last = (await deps.store.read.maintenanceRuns()).find(({ kind }) => kind === 'collect');
  const sinceMs = nowMs - (last?.endedAtMs ?? 0);
  if (sinceMs < 0 || sinceMs >= graceMs / 2) await recordRun(deps); // to detect jumps of the clock
  const none = { newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0, postponed: 0, unknown: 0 };
  return { ...none, unfinished, isHeldByCopy: false };
}

/** Records when the run ended, if the store can be written. */
async function recordRun({ store, clock }: JobDeps): Promise<void> {
  try {
    await store.write((tx) => tx.putMaintenanceRun({ kind: 'collect', endedAtMs: clock(), outcome: {} }));
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
  deps: JobDeps,
  checkpoint: Checkpoint,
  { restartsGrace = false }: CollectOptions,
): Promise<{ readonly all: number; readonly newlyUnused: number }> {
  let [all, newlyUnused] = [0, 0];
  for await (const rows of pagesOfBlobs(deps)) {
    await checkpoint();
    all += rows.length;
    const unused = rows.filter(
      ({ isReferenced, unusedSinceMs }) => !isReferenced && (unusedSinceMs === null || restartsGrace),
    );
    if (unused.length === 0) continue;
    const addresses = unused.map(({ address }) => address);
    const options = { restartsGrace };
    newlyUnused += await deps.store.writeLocking((tx) => tx.markUnused(addresses, deps.clock(), options));
  }
  return { all, newlyUnused };
}

/** Returns the number of due blobs if it exceeds {@link maxDeletedShare}, and 0 otherwise. */
async function countPostponed(
  { store, clock }: JobDeps,
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
async function markForDeletion({ store, clock }: JobDeps, graceMs: number, checkpoint: Checkpoint): Promise<boolean> {
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
  deps: JobDeps,
  checkpoint: Checkpoint,
): Promise<Pick<CollectResult, 'deleted' | 'deletedBytes'>> {
  const { store, blobs } = deps;
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
  deps: JobDeps,
  isForced: boolean,
  checkpoint: Checkpoint,
): Promise<Pick<CollectResult, 'unknown' | 'deleted' | 'deletedBytes'>> {
  const counts = { unknown: 0, deleted: 0, deletedBytes: 0 };
  for await (const keys of unknownObjects(deps)) {
    await checkpoint();
    for (const key of keys) {
      const size = await deps.blobs.size(key);
      if (size === undefined) continue;
      if (!isForced) counts.unknown++;
      else if (await deps.blobs.delete(key)) {
        counts.deleted++;
        counts.deletedBytes += size;
      }
    }
  }
  return counts;
}

/** Returns the expected result of a run, without changing anything. */
async function previewCollect(deps: JobDeps, options: CollectOptions): Promise<CollectResult> {
  const { graceMs, isForced, signal } = options;
  const dueBeforeMs = deps.clock() - graceMs;
  const checkpoint = async (): Promise<void> => {
    await yieldToEventLoop();
    signal?.throwIfAborted();
  };
  const isDue = ({ unusedSinceMs }: BlobRecord) => unusedSinceMs !== null && unusedSinceMs <= dueBeforeMs;
  const { all, ...counts } = await countUnused(deps, isDue, checkpoint);
  const postponed = await countPostponed(deps, all, options);
  const { unknown } = await deleteUnknownObjects(deps, false, checkpoint);
  const isHeldByCopy = (await deps.store.read.leaseHolders('copy', deps.clock())).length > 0;
  const nothingDeleted = { deleted: 0, deletedBytes: 0 };
  const result = { ...counts, ...(postponed > 0 && nothingDeleted), postponed, unknown, unfinished: 0, isHeldByCopy };
  return isForced === true ? { ...result, deleted: result.deleted + unknown, unknown: 0 } : result;
}

/** Counts unreferenced blobs: as `deleted` those that are due, and as `waiting` the others. */
async function countUnused(
  deps: JobDeps,
  isDue: (blob: BlobRecord) => boolean,
  checkpoint: Checkpoint,
): Promise<
  { readonly all: number } & Pick<
    CollectResult,
    'newlyUnused' | 'deleted' | 'deletedBytes' | 'waiting' | 'waitingBytes'
  >
> {
  const counts = { all: 0, newlyUnused: 0, deleted: 0, deletedBytes: 0, waiting: 0, waitingBytes: 0 };
  const nowMs = deps.clock();
  for await (const rows of pagesOfBlobs(deps)) {
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

function pagesOfBlobs({ store }: JobDeps) {
  return readAllPages(
    batchSize,
    ({ address }: BlobRecord) => address,
    (page) => store.read.blobs(page),
  );
}
