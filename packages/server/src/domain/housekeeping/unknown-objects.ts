import type { Context } from '../context.ts';
import { type BlobKey, parseBlobKey } from './blob-key.ts';

/** How many objects are looked up in one go. */
const batchSize = 500;

/** How many objects are counted for a message. */
const maxCounted = 1000;

type Deps = Pick<Context, 'store' | 'blobs'>;

/**
 * Thrown for a database that knows of no contents at all, beside a blob store that has some: it is not the database that these
 * belong to, or an empty one in its place.
 */
export class UnknownBlobsError extends Error {
  override readonly name = 'UnknownBlobsError';

  constructor(found: number) {
    const many = found < maxCounted ? String(found) : `${maxCounted} or more`;
    super(
      `The database has no plugins, but the blob store beside it holds ${many} ${found === 1 ? 'object' : 'objects'}. ` +
        'The database was lost or replaced, or this is the wrong one',
    );
  }
}

/**
 * Makes sure that the database and the blob store belong together, as far as that shows.
 *
 * @throws UnknownBlobsError
 */
export async function assertBlobsKnown({ store: { read }, blobs }: Deps): Promise<void> {
  if (await hasContents(read)) return;
  const found: BlobKey[] = [];
  for await (const key of blobs.list()) if (found.push(key) === maxCounted) break;
  const known = new Set(await read.knownBlobs(found.map(parseBlobKey)));
  const unknown = found.filter((key) => !known.has(key));
  // Asked again: contents may have been published and deleted meanwhile, with their objects.
  if ((await anyObjectExists(blobs, unknown)) && !(await hasContents(read)))
    throw new UnknownBlobsError(unknown.length);
}

async function hasContents(read: Deps['store']['read']): Promise<boolean> {
  const page = { limit: 1 };
  if ((await read.blobs(page)).length > 0 || (await read.namedContents(page)).length > 0) return true;
  return (await read.blobDeletions(1)).length > 0;
}

async function anyObjectExists(blobs: Deps['blobs'], keys: readonly BlobKey[]): Promise<boolean> {
  for (const key of keys) if ((await blobs.size(key)) !== undefined) return true;
  return false;
}

/**
 * Objects that no row knows, in batches. A publish makes its row before it puts an object, so none of these belongs to one that is
 * under way; and as generations are never used again, none will ever be relied on.
 */
export async function* unknownObjects({ store, blobs }: Deps): AsyncGenerator<BlobKey[]> {
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
