import { type BlobKey, blobKey, parseBlobKey } from '../db/blob-key.ts';
import type { Deps } from '../deps.ts';

/** How many objects one query looks up. */
const batchSize = 500;

/** The maximum number of objects that are counted for the error message. */
const maxCounted = 1000;

/** How many contents a start looks up in the blob store. */
const sampleSize = 8;

type JobDeps = Pick<Deps, 'store' | 'blobs'>;

/** The database has no plugins, but the blob store has objects. So the database was lost or replaced, or it belongs to other data. */
export class UnknownBlobsError extends Error {
  override readonly name = 'UnknownBlobsError';

  constructor(found: number) {
    const count = found < maxCounted ? String(found) : `${maxCounted} or more`;
    super(
      `The database has no plugins, but its blob store holds ${count} ${found === 1 ? 'object' : 'objects'}. ` +
        'The database was lost or replaced, or this is the wrong one',
    );
  }
}

/**
 * Detects a database that doesn't belong to the blob store: it is empty, and the blob store is not.
 *
 * @throws UnknownBlobsError
 */
export async function assertBlobsKnown({ store: { read }, blobs }: JobDeps): Promise<void> {
  if (await hasContents(read)) return;
  const found: BlobKey[] = [];
  for await (const key of blobs.list()) if (found.push(key) === maxCounted) break;
  const known = new Set(await read.knownBlobs(found.map(parseBlobKey)));
  const unknown = found.filter((key) => !known.has(key));
  // Checks again, because contents may have been published and deleted during the listing.
  if ((await anyObjectExists(blobs, unknown)) && !(await hasContents(read)))
    throw new UnknownBlobsError(unknown.length);
}

/** The database has contents, but the blob store has none of them: it was emptied, or it belongs to other data. */
export class MissingBlobsError extends Error {
  override readonly name = 'MissingBlobsError';

  constructor(checked: number) {
    super(
      `The database has contents, but its plugin store has none of them (${checked} checked). ` +
        'The plugin store was emptied or replaced, or this is the wrong one',
    );
  }
}

/**
 * Detects a blob store that doesn't belong to the database: it has none of a sample of the contents that versions reference. Addresses are
 * hashes, so the first ones are a random sample.
 *
 * @throws MissingBlobsError
 */
export async function assertBlobsPresent({ store: { read }, blobs }: JobDeps): Promise<void> {
  const findMissing = async () => {
    const rows = (await read.blobs({ limit: sampleSize })).filter((row) => row.state === 'present' && row.isReferenced);
    const sizes = await Promise.all(rows.map((row) => blobs.size(blobKey(row))));
    return sizes.every((size) => size === undefined) ? rows.length : 0;
  };
  // Checks again, because the contents may have been deleted meanwhile.
  if ((await findMissing()) === 0) return;
  const missing = await findMissing();
  if (missing > 0) throw new MissingBlobsError(missing);
}

async function hasContents(read: JobDeps['store']['read']): Promise<boolean> {
  const page = { limit: 1 };
  if ((await read.blobs(page)).length > 0 || (await read.referencedContents(page)).length > 0) return true;
  return (await read.blobDeletions(1)).length > 0;
}

async function anyObjectExists(blobs: JobDeps['blobs'], keys: readonly BlobKey[]): Promise<boolean> {
  for (const key of keys) if ((await blobs.size(key)) !== undefined) return true;
  return false;
}

/**
 * Lists objects without a row, in batches. They don't belong to a running publish, because a publish inserts its row before it stores
 * the object. No later publish uses them, because each uses a new generation.
 */
export async function* unknownObjects({ store, blobs }: JobDeps): AsyncGenerator<BlobKey[]> {
  for await (const keys of batches(blobs.list())) {
    const known = new Set(await store.read.knownBlobs(keys.map(parseBlobKey)));
    const unknown = keys.filter((key) => !known.has(key));
    if (unknown.length > 0) yield unknown;
  }
}

async function* batches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
