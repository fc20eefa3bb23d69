import type { ContentAddress } from '@tenon/protocol';
import type { BlobId } from './blob-key.ts';

/**
 * The state of a blob:
 *
 * - `pending`: a publish is storing the bytes, and nothing references them yet.
 * - `present`: the object is stored, and a version or a simulation has referenced it.
 *
 * A blob that is marked for deletion has no such row, but a {@link BlobDeletion}.
 */
type BlobState = 'pending' | 'present';

/** The row of a blob: bytes that versions and simulations may reference. */
export interface BlobRecord extends BlobId {
  /** In bytes. */
  readonly size: number;
  readonly state: BlobState;
  /** When the lease of the publish that stores the bytes expires; 0 without a lease. */
  readonly leaseUntilMs: number;
  /** When the garbage collector first found that nothing references the blob; `null` if it has not. */
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

/** A content address that versions or simulations reference. */
export interface ReferencedContent {
  readonly address: ContentAddress;
  /** The generation in the blob's row; `null` without a row. */
  readonly generation: string | null;
  /** The number of versions that reference it. */
  readonly versions: number;
  /** The number of references by simulations. */
  readonly simulations: number;
  /** The smallest and the largest size in the rows that reference it. They are equal unless the data is damaged. */
  readonly minSize: number;
  readonly maxSize: number;
}

/** The kinds of leases. */
export type LeaseKind =
  /** Held by the process that collects garbage. */
  | 'collect'
  /** Held while the store is copied, so that no blob is marked for deletion. */
  | 'copy'
  /** Held by the process that sends the audit trail to a syslog server. */
  | 'syslog'
  /** Held by the process that follows the source of a mirror. */
  | 'mirror'
  /** Marks a store as a copy that was not finished. Held until it is. */
  | 'unfinished_copy';

export interface LeaseRecord {
  readonly kind: LeaseKind;
  /** The unique id of the holder. */
  readonly holder: string;
  /** When the lease expires. */
  readonly untilMs: number;
}

/** Damaged or inconsistent data. */
export interface StoreFault {
  /** The kind of data, with its id: `database`, `binding`, `version`, … */
  readonly subject: string;
  readonly detail: string;
}
