import type { ContentAddress } from '@tenon/protocol';
import type { Context } from '../context.ts';
import { type Transaction, UnavailableError } from '../ports.ts';
import { type BlobKey, blobKey, newGeneration } from './blob-key.ts';

/** For how long bytes that a publish has begun to store are not marked for deletion. Storing them takes a moment. */
export const blobLeaseMs = 10 * 60 * 1000;

/** How often bytes are stored again that were marked for deletion meanwhile, which takes a lease to end each time. */
const maxAttempts = 5;

type Deps = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Stores bytes, then runs the work that makes a version of them, in one transaction. Once it has resolved, the version is
 * there, and so are its bytes, whatever the garbage collector does meanwhile, in this process or another, and wherever one of them is
 * stopped, cut off or killed:
 *
 * 1. A row for the bytes is held before the first of them is written. It has the generation that names their object.
 * 2. The bytes are put under that name.
 * 3. The transaction checks that the row still has the generation. If it doesn't, all begins again under another name.
 *
 * The collector takes the row away in a transaction before it asks for the object to be deleted. So a deletion, however late it
 * arrives, is of an object that no version relies on, nor ever will: generations are never used twice. Nothing depends on clocks;
 * the lease keeps the third step from failing in practice. The same work is done whether or not the bytes are known already.
 *
 * @param beforeStoring what must be done before the bytes are stored, in the transaction that holds them
 * @throws UnavailableError when the bytes are marked for deletion again and again, StorageFullError, and whatever the work throws
 */
export async function writeWithBlob<T>(
  context: Deps,
  address: ContentAddress,
  bytes: Uint8Array,
  work: (tx: Transaction) => Promise<T>,
  beforeStoring?: (tx: Transaction) => Promise<void>,
): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const generation = await storeBlob(context, address, bytes, attempt === 0 ? beforeStoring : undefined);
    const outcome = await context.store.write(async (tx) => {
      if (await tx.keepBlob(address, generation)) return { result: await work(tx) };
      // These bytes may have arrived after their deletion: it is asked for once more.
      await tx.putBlobDeletion({ address, generation, size: bytes.length });
      return undefined;
    });
    if (outcome !== undefined) {
      await ensureObject(context, blobKey({ address, generation }), bytes);
      return outcome.result;
    }
  }
  throw new UnavailableError(`Cannot store the bytes: they were deleted ${maxAttempts} times while they were stored`);
}

/**
 * Stores bytes that no version names yet, and holds them for a while.
 *
 * @returns the generation that they were stored in
 */
export async function storeBlob(
  { store, blobs, clock, random }: Deps,
  address: ContentAddress,
  bytes: Uint8Array,
  beforeStoring?: (tx: Transaction) => Promise<void>,
): Promise<string> {
  const fresh = newGeneration(random);
  const leaseUntilMs = clock() + blobLeaseMs;
  const held = { address, size: bytes.length, generation: fresh, leaseUntilMs };
  const generation = await store.write(async (tx) => {
    await beforeStoring?.(tx);
    return tx.holdBlob(held);
  });
  await blobs.put(blobKey({ address, generation }), bytes);
  return generation;
}

/** The store has said that the bytes are there; an object that was removed from outside meanwhile is put again. */
async function ensureObject({ blobs }: Deps, key: BlobKey, bytes: Uint8Array): Promise<void> {
  if ((await blobs.size(key)) !== bytes.length) await blobs.put(key, bytes);
}
