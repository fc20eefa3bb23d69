import type { ContentAddress } from '@tenon/protocol';
import { type BlobId, type BlobKey, blobKey, newGeneration } from '../db/blob-key.ts';
import { type Transaction, UnavailableError } from '../db/store.ts';
import type { Deps } from '../deps.ts';

/** How long the garbage collector doesn't mark bytes for deletion that a publish is storing. */
export const blobLeaseMs = 10 * 60 * 1000;

/** How often bytes are stored if they are marked for deletion during each attempt. Each time, an attempt outlasts its lease. */
const maxAttempts = 5;

type JobDeps = Pick<Deps, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Stores bytes, then runs a transaction that inserts a version of them. When it resolves, both the version and its bytes are durable,
 * even if a garbage collector runs at the same time, and even if one of the processes crashes at any step:
 *
 * 1. A transaction inserts a row for the bytes, with the generation of their object, or extends the lease of an existing row.
 * 2. The bytes are stored as the object of this generation.
 * 3. The version's transaction checks that the row still has this generation. If not, everything starts again with a new generation.
 *
 * The garbage collector deletes the row in a transaction before it deletes the object. Because generations are never reused, even a
 * late deletion can't affect an object that a version references. The correctness doesn't depend on clocks; the lease only makes it
 * unlikely that step 3 fails. The work is the same whether or not the server already has the bytes.
 *
 * @param work runs in the transaction of step 3
 * @param beforeStoring runs in the transaction of step 1
 * @throws UnavailableError if the bytes are marked for deletion during every attempt; StorageFullError; the errors of the callbacks
 */
export function writeWithBlob<T>(
  deps: JobDeps,
  address: ContentAddress,
  bytes: Uint8Array,
  work: (tx: Transaction) => Promise<T>,
  beforeStoring?: (tx: Transaction) => Promise<void>,
): Promise<T> {
  return writeWithBlobs(deps, [{ address, bytes }], work, beforeStoring);
}

/** As {@link writeWithBlob}, for any number of contents, each once. */
export async function writeWithBlobs<T>(
  deps: JobDeps,
  contents: readonly { readonly address: ContentAddress; readonly bytes: Uint8Array }[],
  work: (tx: Transaction) => Promise<T>,
  beforeStoring?: (tx: Transaction) => Promise<void>,
): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored: (BlobId & { readonly bytes: Uint8Array })[] = [];
    for (const { address, bytes } of contents) {
      const isFirst = attempt === 0 && stored.length === 0;
      const generation = await storeBlob(deps, address, bytes, isFirst ? beforeStoring : undefined);
      stored.push({ address, generation, bytes });
    }
    const outcome = await deps.store.write(async (tx) => {
      let areAllPresent = true;
      for (const { address, generation, bytes } of stored) {
        if (await tx.markPresent(address, generation)) continue;
        // The object may have been stored after its deletion, so it is marked for deletion again.
        await tx.putBlobDeletion({ address, generation, size: bytes.length });
        areAllPresent = false;
      }
      return areAllPresent ? { result: await work(tx) } : undefined;
    });
    if (outcome === undefined) continue;
    for (const blob of stored) await ensureObject(deps, blobKey(blob), blob.bytes);
    return outcome.result;
  }
  throw new UnavailableError(`Cannot store the bytes: they were deleted ${maxAttempts} times while they were stored`);
}

/**
 * Stores bytes that nothing references yet. For {@link blobLeaseMs} they are not marked for deletion.
 *
 * @returns their generation
 */
export async function storeBlob(
  deps: JobDeps,
  address: ContentAddress,
  bytes: Uint8Array,
  beforeStoring?: (tx: Transaction) => Promise<void>,
): Promise<string> {
  const lease = leaseOf(deps, address, bytes);
  const generation = await deps.store.write(async (tx) => {
    await beforeStoring?.(tx);
    return tx.leaseBlob(lease);
  });
  await deps.blobs.put(blobKey({ address, generation }), bytes);
  return generation;
}

/** The row that a publish inserts before it stores the bytes. */
export function leaseOf({ clock, random }: Pick<Deps, 'clock' | 'random'>, address: ContentAddress, bytes: Uint8Array) {
  return { address, size: bytes.length, generation: newGeneration(random), leaseUntilMs: clock() + blobLeaseMs };
}

/** Stores the object again if something outside of the server removed it. */
async function ensureObject({ blobs }: JobDeps, key: BlobKey, bytes: Uint8Array): Promise<void> {
  if ((await blobs.size(key)) !== bytes.length) await blobs.put(key, bytes);
}
