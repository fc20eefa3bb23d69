import type { ContentAddress } from '@tenon/protocol';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { createStoredContents, type StoredContents } from '../../src/blobs/stored-contents.ts';

/** The contents of a blob store in which each has the generation `''`, by the sizes that their rows would have. */
export function contentsOf(blobs: BlobStore, sizes: ReadonlyMap<ContentAddress, number>): StoredContents {
  const blob = async (address: ContentAddress) => {
    const size = sizes.get(address);
    if (size === undefined) return undefined;
    return { address, size, state: 'present', generation: '', leaseUntilMs: 0, unusedSinceMs: null } as const;
  };
  return createStoredContents({ store: { read: { blob } }, blobs });
}
