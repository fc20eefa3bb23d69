import { createHash, type Hash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey } from '../db/blob-key.ts';
import type { Queries } from '../db/store.ts';
import type { BlobStat, BlobStore, ByteRange } from './blob-store.ts';

/** How a stored object is damaged: it is missing, or its size or its digest is wrong. */
export type Damage = 'missing' | 'size' | 'digest';

/** A stored object is damaged. Publishing the same bytes again repairs it. */
export class DamagedContentError extends Error {
  override readonly name = 'DamagedContentError';
  readonly address: ContentAddress;
  readonly damage: Damage;

  constructor(address: ContentAddress, damage: Damage) {
    super(`The stored bytes of the content ${address} are damaged: ${damageMessages[damage]}`);
    this.address = address;
    this.damage = damage;
  }
}

const damageMessages: Readonly<Record<Damage, string>> = {
  missing: 'the object is missing',
  size: 'the object does not have the published size',
  digest: 'the digest is wrong',
};

/** A stored object with the right size. */
export interface StoredContent {
  /** In bytes. */
  readonly size: number;
  /**
   * Reads the bytes, or a range, as chunks; see {@link BlobStore.open}. The last chunk of the whole object is returned only if the
   * digest is right. A range is returned only after the digest of the whole object has been verified.
   *
   * @throws DamagedContentError
   */
  open(range?: ByteRange, signal?: AbortSignal, scratch?: Uint8Array): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Reads all bytes and verifies their digest.
   *
   * @throws DamagedContentError
   */
  read(): Promise<Uint8Array>;
}

/** Reads stored objects by content address, and verifies them. */
export type StoredContents = ReturnType<typeof createStoredContents>;

/** How many verification results are cached. */
const maxRememberedChecks = 10_000;

/**
 * How often an object is looked up. The object may be missing because the bytes were deleted and published again, as another
 * generation, between the reads of the row and of the object.
 */
const maxAttempts = 3;

/** An object that was found in the blob store. */
interface LocatedObject extends BlobStat {
  readonly address: ContentAddress;
  readonly key: BlobKey;
}

interface StoredContentsOptions {
  readonly store: { readonly read: Pick<Queries, 'blob'> };
  readonly blobs: Pick<BlobStore, 'stat' | 'open'>;
  /** Called for each {@link DamagedContentError} before it is thrown. */
  readonly onDamage?: ((error: DamagedContentError) => void) | undefined;
}

export function createStoredContents({ store, blobs, onDamage = () => {} }: StoredContentsOptions) {
  const verifications = createVerificationCache();
  /** The running verifications, so that concurrent callers share one. */
  const running = new Map<BlobKey, Promise<boolean>>();

  const damaged = (address: ContentAddress, damage: Damage): DamagedContentError => {
    const error = new DamagedContentError(address, damage);
    onDamage(error);
    return error;
  };

  const locate = async (address: ContentAddress): Promise<LocatedObject | undefined> => {
    let previousGeneration: string | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await store.read.blob(address);
      if (row === undefined) return undefined;
      const key = blobKey(row);
      const found = await blobs.stat(key);
      if (found !== undefined && found.size !== row.size) throw damaged(address, 'size');
      if (found !== undefined) return { ...found, address, key };
      if (row.generation === previousGeneration) break;
      previousGeneration = row.generation;
    }
    throw damaged(address, 'missing');
  };

  const openObject = async (
    { address, key, size }: LocatedObject,
    range?: ByteRange,
    signal?: AbortSignal,
    scratch?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array>> => {
    const chunks = await blobs.open(key, range ?? { first: 0, last: size - 1 }, signal, scratch);
    if (chunks === undefined) throw damaged(address, 'missing');
    return chunks;
  };

  /** Compares the digest of an object that was read with its address. */
  const verifyDigest = (object: LocatedObject, hash: Hash): boolean => {
    const isIntact = hash.digest('base64url') === object.address;
    verifications.set(object, isIntact);
    return isIntact;
  };

  /** Reads an object to verify its digest. */
  const verifyObject = (object: LocatedObject): Promise<boolean> => {
    const shared = running.get(object.key);
    if (shared !== undefined) return shared;
    const verify = async (): Promise<boolean> => {
      const hash = createHash('sha256');
      for await (const chunk of await openObject(object)) hash.update(chunk);
      return verifyDigest(object, hash);
    };
    const result = verify().finally(() => running.delete(object.key));
    running.set(object.key, result);
    return result;
  };

  /** Passes on the chunks of a whole object. Verifies the digest before the last chunk. */
  async function* verifiedChunks(object: LocatedObject, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of chunks) {
      hash.update(chunk);
      length += chunk.length;
      if (length >= object.size && !verifyDigest(object, hash)) throw damaged(object.address, 'digest');
      yield chunk;
    }
  }

  /** @returns `undefined` if the bytes are damaged */
  const readObject = async (object: LocatedObject): Promise<Uint8Array | undefined> => {
    const bytes = Buffer.allocUnsafeSlow(object.size);
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of await openObject(object)) {
      hash.update(chunk);
      bytes.set(chunk, length);
      length += chunk.length;
    }
    const isIntact = verifyDigest(object, hash) && length === object.size;
    return isIntact ? bytes : undefined;
  };

  const contentOf = (object: LocatedObject): StoredContent => ({
    size: object.size,
    async open(range, signal, scratch) {
      const isWhole = range === undefined || (range.first === 0 && range.last === object.size - 1);
      const wasIntact = verifications.get(object);
      // An object that was damaged before is verified before the response starts, so that the response can be an error.
      const mustVerify = wasIntact === false || (wasIntact === undefined && !isWhole);
      if (mustVerify && !(await verifyObject(object))) throw damaged(object.address, 'digest');
      const chunks = await openObject(object, range, signal, scratch);
      return isWhole ? verifiedChunks(object, chunks) : chunks;
    },
    async read() {
      // Reads twice before it reports damage, because the bytes may have been damaged in transit.
      const bytes = (await readObject(object)) ?? (await readObject(object));
      if (bytes === undefined) throw damaged(object.address, 'digest');
      return bytes;
    },
  });

  return {
    /**
     * @returns `undefined` if the metadata store doesn't have the address
     * @throws DamagedContentError if the object is missing or has the wrong size
     */
    async find(address: ContentAddress): Promise<StoredContent | undefined> {
      const object = await locate(address);
      return object && contentOf(object);
    },
  };
}

/** Remembers the last {@link maxRememberedChecks} verifications. */
function createVerificationCache() {
  const entries = new Map<BlobKey, { readonly fingerprint: string; readonly isIntact: boolean }>();
  return {
    /** @returns whether the object was intact when it was last verified; `undefined` if it was not, or has changed since */
    get({ key, fingerprint }: LocatedObject): boolean | undefined {
      const entry = entries.get(key);
      return entry?.fingerprint === fingerprint ? entry.isIntact : undefined;
    },
    set({ key, fingerprint }: LocatedObject, isIntact: boolean): void {
      entries.delete(key); // so that the newest entry is last
      entries.set(key, { fingerprint, isIntact });
      const [oldest] = entries.keys();
      if (entries.size > maxRememberedChecks && oldest !== undefined) entries.delete(oldest);
    },
  };
}
