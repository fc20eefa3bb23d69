import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobStore, UnavailableError } from '../domain/ports.ts';
import { queries } from '../store/kysely/queries.ts';
import type { Db } from '../store/kysely/schema.ts';
import type { End } from './end.ts';
import { MigrateStoreError } from './errors.ts';

/** How many contents are on their way at once: an object store answers slowly, and many at a time. */
const contentsAtOnce = 4;

const pageSize = 500;

export interface CopyContentsOptions {
  /** Whether everything that versions name has to be there, since nothing is deleted any more. */
  readonly isFrozen: boolean;
  /** Called with the bytes of each content that is done, and throws when the work is to end. */
  readonly onContent: (bytes: number) => void;
}

/** What was copied, or found there. */
export interface CopiedContents {
  readonly contents: number;
  readonly bytes: number;
}

/** Copies what versions name. Each content is copied, and read back, once; called again, it sees to what has come since. */
export type ContentCopier = (db: Db, options: CopyContentsOptions) => Promise<CopiedContents>;

/** @param present what may be in the target already, and is believed once it was read and hashed */
export function createContentCopier(
  source: Pick<End, 'blobs'>,
  target: Pick<End, 'blobs'>,
  present: ReadonlySet<ContentAddress>,
): ContentCopier {
  const done = new Map<ContentAddress, number>();
  const copy = async (address: ContentAddress, { isFrozen, onContent }: CopyContentsOptions): Promise<void> => {
    const isThere = present.has(address) && (await isRight(target.blobs, address));
    const bytes = await readWhole(source.blobs, address);
    if (bytes === undefined) {
      if (!isFrozen) return; // deleted with its versions meanwhile
      throw new MigrateStoreError('damaged_data', `The bytes of ${address} are missing, and a version names them.`);
    }
    if (!isThere) {
      await target.blobs.put(address, bytes);
      if (!(await isRight(target.blobs, address))) {
        throw new MigrateStoreError('differs', `The bytes of ${address} did not arrive as they were sent.`);
      }
    }
    done.set(address, bytes.length);
    onContent(bytes.length);
  };
  return async (db, options) => {
    let [contents, bytes] = [0, 0];
    let after: ContentAddress | undefined;
    for (;;) {
      const page = await queries(db).namedContents({ after, limit: pageSize });
      after = page.at(-1)?.address;
      if (after === undefined) return { contents, bytes };
      const waiting = page.filter(({ address }) => !done.has(address));
      await several(waiting, contentsAtOnce, ({ address }) => copy(address, options));
      for (const { address } of page) {
        const size = done.get(address);
        if (size === undefined) continue;
        contents++;
        bytes += size;
      }
    }
  };
}

async function readWhole(blobs: BlobStore, address: ContentAddress): Promise<Uint8Array | undefined> {
  const chunks = await blobs.open(address);
  if (chunks === undefined) return undefined;
  const bytes = Buffer.concat(await Array.fromAsync(chunks));
  if (addressOf(bytes) === address) return bytes;
  throw new MigrateStoreError(
    'damaged_data',
    `The bytes of ${address} are others: their address is ${addressOf(bytes)}.`,
  );
}

async function isRight(blobs: BlobStore, address: ContentAddress): Promise<boolean> {
  const chunks = await blobs.open(address);
  if (chunks === undefined) return false;
  const hash = createHash('sha256');
  try {
    for await (const chunk of chunks) hash.update(chunk);
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    return false; // stores that hash what they read say so by throwing
  }
  return hash.digest('base64url') === address;
}

function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** Does something with each item, so many at a time. The first that fails ends it, once what is under way has ended. */
async function several<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values(); // each worker takes the next
  let failed = false;
  const workers = Array.from({ length: atOnce }, async () => {
    for (const item of queue) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  });
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
