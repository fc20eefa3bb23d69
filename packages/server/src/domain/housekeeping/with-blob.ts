import type { ContentAddress } from '@tenon/protocol';
import type { Context } from '../context.ts';
import { type Transaction, UnavailableError } from '../ports.ts';

/** For how long nobody begins to delete bytes that somebody has begun to store. Storing them takes a moment. */
export const blobLeaseMs = 10 * 60 * 1000;

const epochBytes = 12;

/** How often bytes are stored anew that were deleted under the hands of who stored them, and that took a lease to end each time. */
const maxAttempts = 5;

type Parts = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Stores bytes, then runs the work that makes a version of them, in one transaction. Once it has resolved, the version is
 * there, and so are its bytes, whatever the collector does meanwhile, in this process or another, and wherever one of them is
 * stopped or killed:
 *
 * 1. A row for the bytes is held before the first of them is written. If they were being deleted, it is taken back, and a new
 *    epoch begins: the collector deletes only what is being deleted at that moment, which the store's lock makes sure of.
 * 2. The bytes are put.
 * 3. The transaction demands that the row is still in the same epoch. If it isn't, the bytes may be gone: all begins anew.
 *
 * The lease keeps the third step from failing in practice; nothing depends on clocks. The same work is done whether or not the
 * bytes are known already.
 *
 * @throws UnavailableError when the bytes are deleted again and again, StorageFullError, and whatever the work throws
 */
export async function writeWithBlob<T>(
  context: Parts,
  address: ContentAddress,
  bytes: Uint8Array,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const epoch = await storeBlob(context, address, bytes);
    const outcome = await context.store.write(async (tx) => {
      if (!(await tx.keepBlob(address, epoch))) return undefined;
      return { result: await work(tx) };
    });
    if (outcome !== undefined) {
      await demandFile(context, address, bytes);
      return outcome.result;
    }
  }
  throw new UnavailableError(`Cannot store the bytes: they were deleted ${maxAttempts} times while they were stored`);
}

/**
 * Stores bytes that nothing names yet, and holds them for a while.
 *
 * @returns the epoch that they were stored in
 */
export async function storeBlob(
  { store, blobs, clock, random }: Parts,
  address: ContentAddress,
  bytes: Uint8Array,
): Promise<string> {
  const fresh = Buffer.from(random(epochBytes)).toString('base64url');
  const leaseUntilMs = clock() + blobLeaseMs;
  const epoch = await store.write((tx) => tx.holdBlob({ address, size: bytes.length, epoch: fresh, leaseUntilMs }));
  await blobs.put(address, bytes);
  return epoch;
}

/** The store has said that the bytes are there; a file that a foreign hand took in between is put once more. */
async function demandFile({ blobs }: Parts, address: ContentAddress, bytes: Uint8Array): Promise<void> {
  if ((await blobs.size(address)) !== bytes.length) await blobs.put(address, bytes);
}
