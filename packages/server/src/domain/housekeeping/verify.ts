import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import type { Context } from '../context.ts';
import { UnavailableError, WrongBytesError } from '../ports.ts';
import { type BlobKey, blobKey, parseBlobKey } from './blob-key.ts';
import type { BlobRecord, NamedContent, StoreFault } from './ports.ts';
import { unknownObjects } from './unknown-objects.ts';

/** How many rows are looked at in one go. */
const batchSize = 500;

export interface VerifyOptions {
  /** Called with the bytes of all blobs together, then with what of them was read, a piece at a time. */
  readonly onProgress?: { readonly total: (bytes: number) => void; readonly advance: (bytes: number) => void };
  readonly signal?: AbortSignal;
}

/** The result of a look at all data. Everything is as it must be where `faults` and `unknownObjects` are empty. */
export interface VerifyResult {
  /** Blobs that were read whole and hashed. */
  readonly blobs: number;
  readonly blobBytes: number;
  /** Contents that versions name, and how many versions do. */
  readonly namedContents: number;
  readonly versions: number;
  readonly faults: readonly StoreFault[];
  /**
   * Objects of the blob store that no row of the database knows. Rows are committed before objects are put: so the database has lost
   * commits, or an older copy of it took its place. Or these are from elsewhere.
   */
  readonly unknownObjects: readonly StoreFault[];
}

type Deps = Pick<Context, 'store' | 'blobs'>;

/**
 * Looks whether all data is whole: hashes every blob, and holds versions, rows of blobs and files against each other in both
 * directions, beside what the store can tell of itself. Publishes, deletions and the collector may go on meanwhile: whatever
 * looks wrong is looked at again, in the order in which it can't change under honest hands, before it is called a fault.
 */
export async function verify(context: Deps, options: VerifyOptions = {}): Promise<VerifyResult> {
  const faults: StoreFault[] = [...(await context.store.check())];
  const sizes = await findBlobs(context, options);
  const named = await verifyNamed(context, faults, options);
  await verifyRows(context, faults, options);
  const unknown = await findUnknown(context, options);
  const { blobs, blobBytes } = await verifyBytes(context, sizes, faults, options);
  return { blobs, blobBytes, ...named, faults, unknownObjects: unknown };
}

async function findBlobs({ blobs }: Deps, { signal, onProgress }: VerifyOptions): Promise<Map<BlobKey, number>> {
  const sizes = new Map<BlobKey, number>();
  let total = 0;
  for await (const key of blobs.list()) {
    signal?.throwIfAborted();
    const size = await blobs.size(key);
    if (size === undefined) continue;
    sizes.set(key, size);
    total += size;
  }
  onProgress?.total(total);
  return sizes;
}

/** What versions name: a row, and a file of the size that they have noted. */
async function verifyNamed(
  context: Deps,
  faults: StoreFault[],
  { signal }: VerifyOptions,
): Promise<Pick<VerifyResult, 'namedContents' | 'versions'>> {
  let [namedContents, versions] = [0, 0];
  for await (const page of pages((after) => context.store.read.namedContents({ after, limit: batchSize }))) {
    for (const content of page) {
      signal?.throwIfAborted();
      namedContents++;
      versions += content.versions;
      const detail = await findContentFault(context, content);
      // Versions are never given back their content once they have lost it: one that is named before and after was so between.
      if (
        detail !== undefined &&
        (await context.store.read.isContentNamed(content.address)) &&
        (await findContentFault(context, content))
      ) {
        faults.push({ subject: `content ${content.address}`, detail: `${detail}; ${namedBy(content)}` });
      }
    }
  }
  return { namedContents, versions };
}

async function findContentFault({ store, blobs }: Deps, content: NamedContent): Promise<string | undefined> {
  const { address, minSize, maxSize } = content;
  const row = await store.read.blob(address);
  if (row === undefined) return 'it has no row among the blobs';
  const size = await blobs.size(blobKey(row));
  if (size === undefined) return 'its file is missing';
  if (size !== minSize || size !== maxSize) return `its file has ${size} bytes, and not ${minSize}`;
  return row.state === 'present' ? undefined : `its row says that it is ${row.state}`;
}

function namedBy({ versions }: NamedContent): string {
  return versions === 1 ? '1 version names it' : `${versions} versions name it`;
}

/** Rows that say `present` have a file of their size, whether or not a version names it. */
async function verifyRows(context: Deps, faults: StoreFault[], { signal }: VerifyOptions): Promise<void> {
  for await (const page of pages((after) => context.store.read.blobs({ after, limit: batchSize }))) {
    for (const row of page) {
      signal?.throwIfAborted();
      if (row.state !== 'present' || row.isNamed) continue; // what is named was looked at already
      const size = await context.blobs.size(blobKey(row));
      if (size === row.size || !(await isSameRow(context, row))) continue;
      const detail = size === undefined ? 'its file is missing' : `its file has ${size} bytes, and not ${row.size}`;
      faults.push({ subject: `content ${row.address}`, detail: `${detail}; no version names it` });
    }
  }
}

/** A row goes before its object does, and comes back with another generation. */
async function isSameRow({ store }: Deps, row: BlobRecord): Promise<boolean> {
  const again = await store.read.blob(row.address);
  return again?.state === 'present' && again.generation === row.generation;
}

/** Objects without a row. A publish makes the row first, so none of these belongs to one that is under way. */
async function findUnknown(context: Deps, { signal }: VerifyOptions): Promise<StoreFault[]> {
  const found: StoreFault[] = [];
  for await (const keys of unknownObjects(context)) {
    signal?.throwIfAborted();
    for (const key of keys) {
      if ((await context.blobs.size(key)) === undefined) continue; // deleted meanwhile
      found.push({
        subject: `content ${parseBlobKey(key).address}`,
        detail: 'no row of the database knows its file: the database has lost commits, or is older than the file',
      });
    }
  }
  return found;
}

const wrongDigest = 'its file has other bytes';

/** Every file has the bytes of its address. */
async function verifyBytes(
  context: Deps,
  sizes: ReadonlyMap<BlobKey, number>,
  faults: StoreFault[],
  { signal, onProgress }: VerifyOptions,
): Promise<{ blobs: number; blobBytes: number }> {
  let [blobs, blobBytes] = [0, 0];
  for (const key of sizes.keys()) {
    const { address } = parseBlobKey(key);
    const read = await hashBlob(context, key, (bytes) => {
      signal?.throwIfAborted();
      onProgress?.advance(bytes);
    });
    if (read === undefined) continue; // deleted meanwhile
    blobs++;
    blobBytes += read.bytes;
    if (read.fault === undefined) continue;
    const again = await hashBlob(context, key);
    if (again?.fault !== undefined) faults.push({ subject: `content ${address}`, detail: again.fault });
  }
  return { blobs, blobBytes };
}

async function hashBlob(
  { blobs }: Deps,
  key: BlobKey,
  onRead: (bytes: number) => void = () => {},
): Promise<{ bytes: number; fault: string | undefined } | undefined> {
  const chunks = await blobs.open(key);
  if (chunks === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      onRead(chunk.length);
    }
  } catch (error) {
    const isOfFile = (error instanceof Error && 'syscall' in error) || /ends at byte/.test(String(error));
    if (!isOfFile && !(error instanceof UnavailableError)) throw error;
    if ((await blobs.size(key)) === undefined) return undefined;
    if (error instanceof WrongBytesError) return { bytes, fault: wrongDigest };
    if (!isOfFile) throw error;
    return { bytes, fault: `its file can't be read: ${(error as Error).message}` };
  }
  return { bytes, fault: hash.digest('base64url') === parseBlobKey(key).address ? undefined : wrongDigest };
}

async function* pages<T extends { readonly address: ContentAddress }>(
  load: (after: ContentAddress | undefined) => Promise<T[]>,
): AsyncGenerator<T[]> {
  let after: ContentAddress | undefined;
  for (;;) {
    const page = await load(after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.address;
  }
}
