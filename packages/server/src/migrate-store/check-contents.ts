import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey, parseBlobKey } from '../domain/housekeeping/blob-key.ts';
import type { NamedContent } from '../domain/housekeeping/ports.ts';
import { type BlobStore, UnavailableError } from '../domain/ports.ts';
import { queries } from '../store/kysely/queries.ts';
import type { End } from './end.ts';
import { MigrateStoreError } from './errors.ts';
import { several } from './several.ts';

/** How many contents are on their way at once: an object store answers slowly, and many at a time. */
export const contentsAtOnce = 4;

/** How many are asked for their size at once. */
const sizesAtOnce = 16;

/** How many contents are asked the database for in one go. */
export const pageSize = 500;

export interface DemandContentsOptions {
  /** Whether each is read and hashed, rather than asked for its size alone. */
  readonly isHashed: boolean;
  /** Called for each content, and throws when the work is to end. */
  readonly onContent: () => void;
}

/**
 * Makes sure that everything that versions name is there once all has been copied: what was read back right an hour ago may have been
 * removed since, by a rule of the bucket for one.
 *
 * @throws MigrateStoreError `differs`
 */
export async function demandContents(
  { metadata, blobs }: Pick<End, 'metadata' | 'blobs'>,
  { isHashed, onContent }: DemandContentsOptions,
): Promise<void> {
  let after: ContentAddress | undefined;
  for (;;) {
    const page = await queries(metadata.db).namedContents({ after, limit: pageSize });
    after = page.at(-1)?.address;
    if (after === undefined) return;
    await several(page, isHashed ? contentsAtOnce : sizesAtOnce, async (content) => {
      onContent();
      await demandSize(blobs, content);
      if (isHashed && !(await isRight(blobs, keyOf(content)))) throw differs(content.address, 'are others');
    });
  }
}

/** The key of the object that a content has in both stores. */
export function keyOf({ address, generation }: NamedContent): BlobKey {
  return blobKey({ address, generation: generation ?? '' });
}

async function demandSize(blobs: BlobStore, content: NamedContent): Promise<void> {
  const { address, minSize, maxSize } = content;
  const size = await blobs.size(keyOf(content));
  if (size === undefined) throw differs(address, 'are gone');
  if (size !== minSize || size !== maxSize) throw differs(address, `are ${size}, and not ${maxSize}`);
}

function differs(address: ContentAddress, what: string): MigrateStoreError {
  return new MigrateStoreError('differs', `The bytes of ${address} had arrived in the new store, and ${what} now.`);
}

/** Whether the bytes that lie there are those of the address. */
export async function isRight(blobs: BlobStore, key: BlobKey): Promise<boolean> {
  const chunks = await blobs.open(key);
  if (chunks === undefined) return false;
  const hash = createHash('sha256');
  try {
    for await (const chunk of chunks) hash.update(chunk);
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    return false; // stores that hash what they read say so by throwing
  }
  return hash.digest('base64url') === parseBlobKey(key).address;
}
