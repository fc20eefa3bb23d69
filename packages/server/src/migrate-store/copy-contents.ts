import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, parseBlobKey } from '../domain/housekeeping/blob-key.ts';
import type { NamedContent } from '../domain/housekeeping/ports.ts';
import type { BlobStore } from '../domain/ports.ts';
import type { Db } from '../store/kysely/db.ts';
import { queries } from '../store/kysely/queries.ts';
import { contentsAtOnce, isRight, keyOf, pageSize } from './check-contents.ts';
import type { End } from './end.ts';
import { MigrateStoreError } from './errors.ts';
import { several } from './several.ts';

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
  present: ReadonlySet<BlobKey>,
): ContentCopier {
  const done = new Map<BlobKey, number>();
  const copy = async (content: NamedContent, { isFrozen, onContent }: CopyContentsOptions): Promise<void> => {
    const { address } = content;
    const key = keyOf(content);
    const isThere = present.has(key) && (await isRight(target.blobs, key));
    const bytes = await readWhole(source.blobs, key);
    if (bytes === undefined) {
      if (!isFrozen) return; // deleted with its versions meanwhile
      throw new MigrateStoreError('damaged_data', `The bytes of ${address} are missing, and a version names them.`);
    }
    if (!isThere) {
      await target.blobs.put(key, bytes);
      if (!(await isRight(target.blobs, key))) {
        throw new MigrateStoreError('differs', `The bytes of ${address} did not arrive as they were sent.`);
      }
    }
    done.set(key, bytes.length);
    onContent(bytes.length);
  };
  return async (db, options) => {
    let [contents, bytes] = [0, 0];
    let after: ContentAddress | undefined;
    for (;;) {
      const page = await queries(db).namedContents({ after, limit: pageSize });
      after = page.at(-1)?.address;
      if (after === undefined) return { contents, bytes };
      const waiting = page.filter((content) => !done.has(keyOf(content)));
      await several(waiting, contentsAtOnce, (content) => copy(content, options));
      for (const content of page) {
        const size = done.get(keyOf(content));
        if (size === undefined) continue;
        contents++;
        bytes += size;
      }
    }
  };
}

async function readWhole(blobs: BlobStore, key: BlobKey): Promise<Uint8Array | undefined> {
  const chunks = await blobs.open(key);
  if (chunks === undefined) return undefined;
  const { address } = parseBlobKey(key);
  const bytes = Buffer.concat(await Array.fromAsync(chunks));
  if (addressOf(bytes) === address) return bytes;
  throw new MigrateStoreError(
    'damaged_data',
    `The bytes of ${address} are others: their address is ${addressOf(bytes)}.`,
  );
}

function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
