import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey, parseBlobKey } from '../db/blob-key.ts';
import type { BlobRecord, ReferencedContent, StoreFault } from '../db/blob-records.ts';
import { readAllPages } from '../db/paging.ts';
import { UnavailableError, WrongBytesError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { unknownObjects } from './unknown-objects.ts';

/** How many rows one query reads. */
const batchSize = 500;

export interface VerifyOptions {
  /** `total` is called once with the size of all objects, `advance` with the size of each chunk that was read. */
  readonly onProgress?: { readonly total: (bytes: number) => void; readonly advance: (bytes: number) => void };
  readonly signal?: AbortSignal;
}

/** The result of a verification. The data is intact if `faults` and `unknownObjects` are empty. */
export interface VerifyResult {
  /** The number of objects that were read and hashed. */
  readonly blobs: number;
  readonly blobBytes: number;
  /** The number of different contents that versions and simulations reference. */
  readonly referencedContents: number;
  readonly versions: number;
  readonly faults: readonly StoreFault[];
  /**
   * Objects without a row in the database. A publish commits the row before it stores the object. So either the database has lost
   * commits, or it was replaced by an older copy, or something else put the objects there.
   */
  readonly unknownObjects: readonly StoreFault[];
}

type JobDeps = Pick<Deps, 'store' | 'blobs'>;

/**
 * Verifies all data. It checks the database, hashes every object, and compares versions, blob rows and objects with each other in both
 * directions. The server may run at the same time: before a check reports a fault, it reads the data again, in an order in which a
 * correct server can't cause the fault.
 */
export async function verify(deps: JobDeps, options: VerifyOptions = {}): Promise<VerifyResult> {
  const faults: StoreFault[] = [...(await deps.store.check())];
  const sizes = await listObjects(deps, options);
  const referenced = await verifyReferenced(deps, faults, options);
  await verifyRows(deps, faults, options);
  const unknown = await findUnknown(deps, options);
  const { blobs, blobBytes } = await verifyBytes(deps, sizes, faults, options);
  return { blobs, blobBytes, ...referenced, faults, unknownObjects: unknown };
}

async function listObjects({ blobs }: JobDeps, { signal, onProgress }: VerifyOptions): Promise<Map<BlobKey, number>> {
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

/** Checks that the contents of all versions and simulations have a row, and an object of the right size. */
async function verifyReferenced(
  deps: JobDeps,
  faults: StoreFault[],
  { signal }: VerifyOptions,
): Promise<Pick<VerifyResult, 'referencedContents' | 'versions'>> {
  let [referencedContents, versions] = [0, 0];
  for await (const page of readAllPages(batchSize, addressOf, (page) => deps.store.read.referencedContents(page))) {
    for (const content of page) {
      signal?.throwIfAborted();
      referencedContents++;
      versions += content.versions;
      const detail = await findContentFault(deps, content);
      // A concurrent deletion can look like a fault only after the content has lost its last reference. So the fault is real if
      // the content is still referenced and a second check fails too.
      if (
        detail !== undefined &&
        (await deps.store.read.isContentReferenced(content.address)) &&
        (await findContentFault(deps, content))
      ) {
        faults.push({ subject: `content ${content.address}`, detail: `${detail}; ${referenceCount(content)}` });
      }
    }
  }
  return { referencedContents, versions };
}

async function findContentFault({ store, blobs }: JobDeps, content: ReferencedContent): Promise<string | undefined> {
  const { address, minSize, maxSize } = content;
  const row = await store.read.blob(address);
  if (row === undefined) return 'it has no row among the blobs';
  const size = await blobs.size(blobKey(row));
  if (size === undefined) return 'its file is missing';
  if (size !== minSize || size !== maxSize) return `its file has ${size} bytes, and not ${minSize}`;
  return row.state === 'present' ? undefined : `its row says that it is ${row.state}`;
}

function referenceCount({ versions, simulations }: ReferencedContent): string {
  const counts = [countOf(versions, 'version'), countOf(simulations, 'simulation')].filter((text) => text !== '');
  return `${counts.join(' and ')} ${versions + simulations === 1 ? 'references' : 'reference'} it`;
}

function countOf(count: number, unit: string): string {
  return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Checks that unreferenced rows in the state `present` have an object of the right size. */
async function verifyRows(deps: JobDeps, faults: StoreFault[], { signal }: VerifyOptions): Promise<void> {
  for await (const page of readAllPages(batchSize, addressOf, (page) => deps.store.read.blobs(page))) {
    for (const row of page) {
      signal?.throwIfAborted();
      if (row.state !== 'present' || row.isReferenced) continue; // verifyReferenced() checks referenced rows
      const size = await deps.blobs.size(blobKey(row));
      if (size === row.size || !(await isSameRow(deps, row))) continue;
      const detail = size === undefined ? 'its file is missing' : `its file has ${size} bytes, and not ${row.size}`;
      faults.push({ subject: `content ${row.address}`, detail: `${detail}; nothing references it` });
    }
  }
}

/** Whether a row was not deleted since it was read. The row is deleted before its object, and a new row has another generation. */
async function isSameRow({ store }: JobDeps, row: BlobRecord): Promise<boolean> {
  const again = await store.read.blob(row.address);
  return again?.state === 'present' && again.generation === row.generation;
}

/** Finds objects without a row. */
async function findUnknown(deps: JobDeps, { signal }: VerifyOptions): Promise<StoreFault[]> {
  const found: StoreFault[] = [];
  for await (const keys of unknownObjects(deps)) {
    signal?.throwIfAborted();
    for (const key of keys) {
      if ((await deps.blobs.size(key)) === undefined) continue; // deleted meanwhile
      found.push({
        subject: `content ${parseBlobKey(key).address}`,
        detail: 'its file has no row in the database: the database has lost commits, or is older than the file',
      });
    }
  }
  return found;
}

const wrongDigest = "its file doesn't have the bytes of its address";

/** Checks that every object has the digest of its address. */
async function verifyBytes(
  deps: JobDeps,
  sizes: ReadonlyMap<BlobKey, number>,
  faults: StoreFault[],
  { signal, onProgress }: VerifyOptions,
): Promise<{ blobs: number; blobBytes: number }> {
  let [blobs, blobBytes] = [0, 0];
  for (const key of sizes.keys()) {
    const { address } = parseBlobKey(key);
    const read = await hashBlob(deps, key, (bytes) => {
      signal?.throwIfAborted();
      onProgress?.advance(bytes);
    });
    if (read === undefined) continue; // deleted meanwhile
    blobs++;
    blobBytes += read.bytes;
    if (read.fault === undefined) continue;
    const again = await hashBlob(deps, key);
    if (again?.fault !== undefined) faults.push({ subject: `content ${address}`, detail: again.fault });
  }
  return { blobs, blobBytes };
}

async function hashBlob(
  { blobs }: JobDeps,
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

const addressOf = ({ address }: { readonly address: ContentAddress }) => address;
