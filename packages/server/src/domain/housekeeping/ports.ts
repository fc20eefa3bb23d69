import type { ContentAddress } from '@tenon/protocol';

/**
 * Where the bytes of an address are in their life:
 *
 * - `pending`: somebody is storing them, and no version names them yet.
 * - `present`: a version named them when they were last asked about; the file is there.
 * - `deleting`: no version names them, and the file may be gone at any moment.
 */
export type BlobState = 'pending' | 'present' | 'deleting';

/** What is known of the bytes of an address, whoever published them. */
export interface BlobRecord {
  readonly address: ContentAddress;
  /** In bytes. */
  readonly size: number;
  readonly state: BlobState;
  /**
   * A text that is another one whenever the bytes may have been deleted since. Who put them while it was the one may rely on
   * them while it is still the one.
   */
  readonly epoch: string;
  /** Until when somebody is storing the bytes, in milliseconds since the Unix epoch; 0 for nobody. */
  readonly leaseUntilMs: number;
  /** Since when no version is known to name them; `null` while one does, or nobody has looked. */
  readonly unusedSinceMs: number | null;
}

/** A stretch of a list by address. */
export interface BlobPage {
  /** The address of the last one that was shown. */
  readonly after?: ContentAddress | undefined;
  readonly limit: number;
}

/** The bytes of an address as versions name them. */
export interface NamedContent {
  readonly address: ContentAddress;
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
  /** All bytes that versions name, while a backup copies them. */
  | 'backup';

/**
 * Why a store takes no changes, kept where leases are, until it is taken away:
 *
 * - `frozen`: its data is being moved to another store at this moment.
 * - `moved`: its data was moved, and lives on elsewhere.
 * - `arriving`: data is being moved here, and is not whole yet.
 *
 * Every transaction asks for them, whichever process begins it.
 */
export type FreezeKind = 'frozen' | 'moved' | 'arriving';

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
  /** Those of the addresses that are known. */
  knownBlobs(addresses: readonly ContentAddress[]): Promise<ContentAddress[]>;
  /** The bytes that are being deleted, by address. */
  blobsBeingDeleted(page: BlobPage): Promise<BlobRecord[]>;
  /** All that versions name, by address. */
  namedContents(page: BlobPage): Promise<NamedContent[]>;
  /** Whether a version names it. */
  isContentNamed(address: ContentAddress): Promise<boolean>;
  /** Who holds a kind of lease at a time. */
  leaseHolders(kind: LeaseKind, nowMs: number): Promise<string[]>;
}

export interface HousekeepingMutations {
  /**
   * Announces that bytes will be stored: from now on nobody begins to delete them before the lease ends. Takes back what is
   * being deleted.
   *
   * @param blob with the epoch to begin, if one begins
   * @returns the epoch that they are in now
   */
  holdBlob(blob: Pick<BlobRecord, 'address' | 'size' | 'epoch' | 'leaseUntilMs'>): Promise<string>;
  /**
   * Keeps bytes that were put in an epoch, since a version will name them.
   *
   * @returns whether they are still in it; `false` when they may have been deleted
   */
  keepBlob(address: ContentAddress, epoch: string): Promise<boolean>;
  /** Makes bytes known that lie in the blob store and aren't; those that are known stay as they are. */
  adoptBlobs(blobs: readonly Pick<BlobRecord, 'address' | 'size' | 'epoch'>[]): Promise<void>;
  /** Notes that no version names these, as far as that is so and nobody holds them. @returns how many it is of */
  noteUnused(addresses: readonly ContentAddress[], nowMs: number): Promise<number>;
  /** Begins to delete what no version has named since a time, and nobody holds. */
  condemnBlobs(change: {
    readonly unusedSinceMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Promise<BlobRecord[]>;
  /**
   * Forgets bytes that are being deleted. To be followed by the deletion within the transaction: nobody can take them back in
   * between.
   *
   * @returns whether they are to be deleted; `false` when they were taken back
   */
  dropBlob(address: ContentAddress): Promise<boolean>;
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
