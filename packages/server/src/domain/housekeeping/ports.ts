import type { ContentAddress } from '@tenon/protocol';
import type { BlobId, BlobKey } from './blob-key.ts';

/**
 * The state of a blob:
 *
 * - `pending`: a publish is storing the bytes, and no version references them yet.
 * - `present`: the object is stored, and a version has referenced it.
 *
 * A blob that is marked for deletion has no such row, but a {@link BlobDeletion}.
 */
export type BlobState = 'pending' | 'present';

/** The row of a blob: bytes that one or more versions of one or more users may reference. */
export interface BlobRecord extends BlobId {
  /** In bytes. */
  readonly size: number;
  readonly state: BlobState;
  /** When the lease of the publish that stores the bytes expires; 0 without a lease. */
  readonly leaseUntilMs: number;
  /** When the garbage collector first found that no version references the blob; `null` if it has not. */
  readonly unusedSinceMs: number | null;
}

/** An object that is marked for deletion. No publish uses its generation again, so the deletion may take effect at any time. */
export interface BlobDeletion extends BlobId {
  /** In bytes. */
  readonly size: number;
}

/** A page of a list ordered by address. */
export interface BlobPage {
  /** The last address of the previous page. */
  readonly after?: ContentAddress | undefined;
  readonly limit: number;
}

/** Selects the blobs whose grace period has ended and that have no lease. */
export interface DueBlobs {
  /** The latest `unusedSinceMs` of a due blob. */
  readonly unusedSinceMs: number;
  readonly nowMs: number;
}

/** A content address that versions reference. */
export interface NamedContent {
  readonly address: ContentAddress;
  /** The generation in the blob's row; `null` without a row. */
  readonly generation: string | null;
  /** The number of versions that reference it. */
  readonly versions: number;
  /** The smallest and the largest size in the rows of these versions. They are equal unless the data is damaged. */
  readonly minSize: number;
  readonly maxSize: number;
}

/** The kinds of leases. */
export type LeaseKind =
  /** Held by the process that collects garbage. */
  | 'collect'
  /** Held while the store is copied, so that no blob is marked for deletion. */
  | 'copy'
  /** Marks a store as a copy that was not finished. Held until it is. */
  | 'unfinished_copy';

export interface LeaseRecord {
  readonly kind: LeaseKind;
  /** The unique id of the holder. */
  readonly holder: string;
  /** When the lease expires. */
  readonly untilMs: number;
}

export interface HousekeepingQueries {
  blob(address: ContentAddress): Promise<BlobRecord | undefined>;
  /** All blobs, by address. `isNamed`: whether a version references the blob. */
  blobs(page: BlobPage): Promise<(BlobRecord & { readonly isNamed: boolean })[]>;
  /** Returns those of the given objects that have a row, as a blob or as a deletion. */
  knownBlobs(ids: readonly BlobId[]): Promise<BlobKey[]>;
  /** The objects that are marked for deletion. */
  blobDeletions(limit: number): Promise<BlobDeletion[]>;
  /** The number of blobs that {@link HousekeepingMutations.markForDeletion} would mark without a limit. */
  countDueBlobs(due: DueBlobs): Promise<number>;
  /** All content addresses that versions reference, in their order. */
  namedContents(page: BlobPage): Promise<NamedContent[]>;
  /** Whether a version references the content. */
  isContentNamed(address: ContentAddress): Promise<boolean>;
  /** The holders of the leases of a kind that have not expired. */
  leaseHolders(kind: LeaseKind, nowMs: number): Promise<string[]>;
  /** Whether the store is a copy that was not finished, which no server may use. */
  isUnfinishedCopy(): Promise<boolean>;
}

export interface HousekeepingMutations {
  /**
   * Takes or extends a blob's lease before its bytes are stored. Until the lease expires, the blob is not marked for deletion.
   *
   * @param blob with a new generation, which becomes the blob's if the address has no row
   * @returns the blob's generation
   */
  holdBlob(blob: Pick<BlobRecord, 'address' | 'size' | 'generation' | 'leaseUntilMs'>): Promise<string>;
  /**
   * Sets a blob's state to `present`, for a version that references it.
   *
   * @returns `false` if the blob doesn't have this generation, because the object may have been deleted
   */
  keepBlob(address: ContentAddress, generation: string): Promise<boolean>;
  /**
   * Starts the grace periods of those of the given blobs that no version references and that have no lease. `restartsGrace` also
   * restarts grace periods that have begun.
   *
   * @returns the number of changed blobs
   */
  noteUnused(
    addresses: readonly ContentAddress[],
    nowMs: number,
    options?: { readonly restartsGrace?: boolean },
  ): Promise<number>;
  /** Marks due blobs for deletion: replaces their rows by deletions. */
  markForDeletion(due: DueBlobs & { readonly limit: number }): Promise<BlobDeletion[]>;
  /** Marks an object for deletion whose blob row no longer exists. Does nothing if it is already marked. */
  putBlobDeletion(deletion: BlobDeletion): Promise<void>;
  /** Deletes the rows of completed deletions. */
  deleteBlobDeletions(deletions: readonly BlobId[]): Promise<void>;
  /** Takes or extends a lease. */
  putLease(lease: LeaseRecord): Promise<void>;
  deleteLease(lease: Pick<LeaseRecord, 'kind' | 'holder'>): Promise<void>;
  /** Deletes the expired leases of a kind. */
  deleteEndedLeases(kind: LeaseKind, nowMs: number): Promise<void>;
}

/** Damaged or inconsistent data. */
export interface StoreFault {
  /** The kind of data, with its id: `database`, `binding`, `version`, … */
  readonly subject: string;
  readonly detail: string;
}
