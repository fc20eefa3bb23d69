import { createHash } from 'node:crypto';
import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { blobPath } from '../../blobs/folder/paths.ts';
import { unknownObjects } from '../../blobs/unknown-objects.ts';
import { type BlobKey, blobKey, parseBlobKey } from '../../db/blob-key.ts';
import type { ReferencedContent } from '../../db/blob-records.ts';
import type { Db } from '../../db/db.ts';
import { syncFolder } from '../../db/durable-folder.ts';
import { readAllPages } from '../../db/paging.ts';
import { type Queries, WrongBytesError } from '../../db/store.ts';
import type { StoreSettings, Stores } from '../../open-stores.ts';
import { queries } from '../../queries.ts';
import { CopyError } from './errors.ts';

/** How many contents are copied concurrently. Each is completely in memory. */
const copyConcurrency = 4;

const batchSize = 500;

/** Replaces the target's blob rows by one for each content that a version of the source references. Call it in a transaction. */
export async function replaceBlobRows(source: Db, target: Db): Promise<void> {
  await target.deleteFrom('blob_deletions').execute();
  await target.deleteFrom('blobs').execute();
  for await (const page of referencedContents(queries(source), batchSize)) {
    const rows = page.map((content) => ({
      address: content.address,
      size: content.maxSize,
      state: 'present' as const,
      generation: generationOf(content),
      leaseUntilMs: 0,
      unusedSinceMs: null,
    }));
    await target.insertInto('blobs').values(rows).execute();
  }
}

interface BlobCopy {
  readonly from: StoreSettings;
  readonly to: StoreSettings;
  readonly source: BlobStore;
  readonly target: Stores;
  /** Called with the size of each copied content. May throw to stop. */
  readonly onContent: (bytes: number) => Promise<void>;
}

/** Copies the contents that versions of the target reference, and deletes unreferenced ones of an earlier run. */
export async function copyBlobs(copy: BlobCopy): Promise<void> {
  const { target, onContent } = copy;
  const present = new Set(await Array.fromAsync(target.blobs.list()));
  for await (const page of referencedContents(target.store.read, copyConcurrency)) {
    const outcomes = await Promise.allSettled(page.map((content) => copyContent(copy, present, content)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    for (const { maxSize } of page) await onContent(maxSize);
  }
  for await (const keys of unknownObjects(target)) for (const key of keys) await target.blobs.delete(key);
}

async function copyContent(copy: BlobCopy, present: ReadonlySet<BlobKey>, content: ReferencedContent): Promise<void> {
  const key = blobKey({ address: content.address, generation: generationOf(content) });
  if (present.has(key) && (await readContent(copy.target.blobs, key)) !== undefined) return;
  const bytes = await readContent(copy.source, key);
  if (bytes === undefined) throw damaged(content, 'its bytes are missing or wrong');
  if (!(await linkBlob(copy, key))) await copy.target.blobs.put(key, bytes);
}

/** Links the file into a folder on the same file system. This is safe, because blob files are replaced, but never modified. */
async function linkBlob({ from, to }: BlobCopy, key: BlobKey): Promise<boolean> {
  const path = blobPath(key);
  if (path === undefined || from.s3Bucket !== undefined || to.s3Bucket !== undefined) return false;
  const linked = join(to.dataDir, 'blobs', path);
  try {
    await link(join(from.dataDir, 'blobs', path), linked);
  } catch {
    return false; // another file system, one without hard links, or an existing damaged file
  }
  await syncFolder(dirname(linked));
  return true;
}

/** @returns `undefined` if the bytes are missing, or don't match the address */
async function readContent(blobs: BlobStore, key: BlobKey): Promise<Uint8Array | undefined> {
  try {
    const chunks = await blobs.open(key);
    if (chunks === undefined) return undefined;
    const bytes = Buffer.concat(await Array.fromAsync(chunks));
    const isRight = createHash('sha256').update(bytes).digest('base64url') === parseBlobKey(key).address;
    return isRight ? bytes : undefined;
  } catch (error) {
    if (error instanceof WrongBytesError) return undefined;
    throw error;
  }
}

function referencedContents(read: Pick<Queries, 'referencedContents'>, limit: number) {
  return readAllPages(
    limit,
    ({ address }: ReferencedContent) => address,
    (page) => read.referencedContents(page),
  );
}

function generationOf(content: ReferencedContent): string {
  if (content.generation === null) throw damaged(content, 'it has no blob row');
  return content.generation;
}

function damaged({ address }: ReferencedContent, detail: string): CopyError {
  return new CopyError('damaged_data', `The source is damaged: a version references ${address}, but ${detail}.`);
}
