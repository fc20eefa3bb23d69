import type { ContentAddress } from '@tenon/protocol';
import type { BlobId, BlobKey } from './blob-key.ts';

/**
 * Where the bytes of an address are in their life:
 *
 * - `pending`: a publish is storing them, and no version names them yet.
 * - `present`: a version named them when they were last asked about; the object is there.
 *
 * Bytes that are to be deleted have no such row any more: see {@link BlobDeletion}.
 */
export type BlobState = 'pending' | 'present';

/** What is known of the bytes of an address, whoever published them. */
export interface BlobRecord extends BlobId {
  /** In bytes. */
  readonly size: number;
  readonly state: BlobState;
  /** Until when a publish is storing the bytes, in milliseconds since the Unix epoch; 0 for none. */
  readonly leaseUntilMs: number;
  /** Since when no version is known to name them; `null` while one does, or nothing has looked. */
  readonly unusedSinceMs: number | null;
}

/**
 * An object of the blob store that is to be deleted. Its generation is dead: no publish relies on it ever again, so that the deletion
 * may take effect at any time.
 */
export interface BlobDeletion extends BlobId {
  /** In bytes. */
  readonly size: number;
}

/** A stretch of a list by address. */
export interface BlobPage {
  /** The address of the last one that was shown. */
  readonly after?: ContentAddress | undefined;
  readonly limit: number;
}

/** What may be marked for deletion. */
export interface DueBlobs {
  /** No version has named it since this time, in milliseconds since the Unix epoch, or an earlier one. */
  readonly unusedSinceMs: number;
  readonly nowMs: number;
}

/** The bytes of an address as versions name them. */
export interface NamedContent {
  readonly address: ContentAddress;
  /** Of their row; `null` when they have none. */
  readonly generation: string | null;
  /** How many versions name it. */
  readonly versions: number;
  /** The smallest and the largest size that these versions have noted: the same one, unless something is wrong. */
  readonly minSize: number;
  readonly maxSize: number;
}

/** What somebody may hold for some time, so that others leave something be. */
export type LeaseKind =
  /** The work of the collector, which one process does. */
  | 'collect'
  /** All contents that versions name, while the store is copied. */
  | 'copy'
  /** Marks a store as a copy that was not finished. Held until it is. */
  | 'unfinished_copy';

export interface LeaseRecord {
  readonly kind: LeaseKind;
  /** Whose it is: any text that nobody else uses. */
  readonly holder: string;
  /** In milliseconds since the Unix epoch. */
  readonly untilMs: number;
}

export interface HousekeepingQueries {
  blob(address: ContentAddress): Promise<BlobRecord | undefined>;
  /** What is known of any bytes, by address, with whether a version names them. */
  blobs(page: BlobPage): Promise<(BlobRecord & { readonly isNamed: boolean })[]>;
  /** Those of the objects that have a row, be it as bytes or as a deletion. */
  knownBlobs(ids: readonly BlobId[]): Promise<BlobKey[]>;
  /** Objects that are to be deleted. */
  blobDeletions(limit: number): Promise<BlobDeletion[]>;
  /** How many contents {@link HousekeepingMutations.markForDeletion} would take. */
  countDueBlobs(due: DueBlobs): Promise<number>;
  /** All that versions name, by address. */
  namedContents(page: BlobPage): Promise<NamedContent[]>;
  /** Whether a version names it. */
  isContentNamed(address: ContentAddress): Promise<boolean>;
  /** Who holds a kind of lease at a time. */
  leaseHolders(kind: LeaseKind, nowMs: number): Promise<string[]>;
  /** Whether the store is a copy that was not finished, which no server may use. */
  isUnfinishedCopy(): Promise<boolean>;
}

export interface HousekeepingMutations {
  /**
   * Announces that bytes will be stored: from now on they are not marked for deletion before the lease ends.
   *
   * @param blob with a new generation, which is used if the address has no row
   * @returns the generation to store them in
   */
  holdBlob(blob: Pick<BlobRecord, 'address' | 'size' | 'generation' | 'leaseUntilMs'>): Promise<string>;
  /**
   * Keeps bytes that were put in a generation, since a version will name them.
   *
   * @returns whether that is still their generation; `false` when they may have been deleted
   */
  keepBlob(address: ContentAddress, generation: string): Promise<boolean>;
  /**
   * Notes that no version names these, as far as that is so and nothing holds them. `restartsGrace` replaces earlier notes.
   *
   * @returns how many it is of
   */
  noteUnused(
    addresses: readonly ContentAddress[],
    nowMs: number,
    options?: { readonly restartsGrace?: boolean },
  ): Promise<number>;
  /** Marks for deletion what no version has named since a time, and nothing holds. Their generation is dead from then on. */
  markForDeletion(due: DueBlobs & { readonly limit: number }): Promise<BlobDeletion[]>;
  /** Marks an object for deletion whose generation is dead already; nothing when it is marked. */
  putBlobDeletion(deletion: BlobDeletion): Promise<void>;
  /** Forgets deletions that are done. */
  deleteBlobDeletions(deletions: readonly BlobId[]): Promise<void>;
  /** Takes a lease, or makes one longer. */
  putLease(lease: LeaseRecord): Promise<void>;
  deleteLease(lease: Pick<LeaseRecord, 'kind' | 'holder'>): Promise<void>;
  /** Forgets the leases of a kind that have ended. */
  deleteEndedLeases(kind: LeaseKind, nowMs: number): Promise<void>;
}

/** Something in a store's data that can't be. */
export interface StoreFault {
  /** What it is about: `database`, `binding`, `version`, … */
  readonly subject: string;
  readonly detail: string;
}
