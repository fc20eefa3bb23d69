import { createHash, type Hash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { type BlobKey, blobKey } from './housekeeping/blob-key.ts';
import type { BlobStat, BlobStore, ByteRange, Queries } from './ports.ts';

/** What is wrong with the object of a content: it is not there, has another size than its row says, or other bytes. */
export type Damage = 'missing' | 'size' | 'digest';

/** Thrown instead of the last of the bytes of a content whose object is damaged. Publishing the same bytes again repairs it. */
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
  missing: 'their object is missing',
  size: 'their object has another size than was published',
  digest: 'they have another digest',
};

/** A content whose object has the right size. */
export interface StoredContent {
  /** In bytes. */
  readonly size: number;
  /**
   * The bytes, or a range within the size, as chunks; as {@link BlobStore.open}. All of them together are checked before the last is
   * handed out; a range is handed out once the whole has been checked.
   *
   * @throws DamagedContentError
   */
  open(range?: ByteRange, signal?: AbortSignal, scratch?: Uint8Array): Promise<AsyncIterable<Uint8Array>>;
  /**
   * The bytes as one piece, checked.
   *
   * @throws DamagedContentError
   */
  read(): Promise<Uint8Array>;
}

/** The bytes of contents by their address, checked. */
export interface StoredContents {
  /**
   * @returns `undefined` when the metadata has no such content
   * @throws DamagedContentError when its object is missing or has another size
   */
  find(address: ContentAddress): Promise<StoredContent | undefined>;
}

export interface StoredContentsOptions {
  /** Called for each {@link DamagedContentError} before it is thrown. */
  readonly onDamage?: ((error: DamagedContentError) => void) | undefined;
}

/** How many objects are remembered as checked. */
const maxRememberedChecks = 10_000;

/** How often an object is looked for that is gone when it is opened, since the bytes were published again meanwhile. */
const maxAttempts = 3;

/** An object as it was when its row and its file were last looked at. */
interface LocatedObject extends BlobStat {
  readonly address: ContentAddress;
  readonly key: BlobKey;
}

export function createStoredContents(
  {
    store,
    blobs,
  }: { readonly store: { readonly read: Pick<Queries, 'blob'> }; readonly blobs: Pick<BlobStore, 'stat' | 'open'> },
  { onDamage = () => {} }: StoredContentsOptions = {},
): StoredContents {
  /** Whether the bytes of an object were right when it had this fingerprint. The one that was noted last stands last. */
  const checked = new Map<BlobKey, { readonly fingerprint: string; readonly isIntact: boolean }>();
  const checking = new Map<BlobKey, Promise<boolean>>();

  const damaged = (address: ContentAddress, damage: Damage): DamagedContentError => {
    const error = new DamagedContentError(address, damage);
    onDamage(error);
    return error;
  };
  const note = ({ key, fingerprint }: LocatedObject, isRight: boolean): void => {
    checked.delete(key);
    checked.set(key, { fingerprint, isIntact: isRight });
    const [oldest] = checked.keys();
    if (checked.size > maxRememberedChecks && oldest !== undefined) checked.delete(oldest);
  };
  const noted = ({ key, fingerprint }: LocatedObject): boolean | undefined => {
    const found = checked.get(key);
    return found?.fingerprint === fingerprint ? found.isIntact : undefined;
  };

  const locate = async (address: ContentAddress): Promise<LocatedObject | undefined> => {
    let before: string | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await store.read.blob(address);
      if (row === undefined) return undefined;
      const key = blobKey(row);
      const found = await blobs.stat(key);
      if (found !== undefined && found.size !== row.size) throw damaged(address, 'size');
      if (found !== undefined) return { ...found, address, key };
      if (row.generation === before) break;
      before = row.generation;
    }
    throw damaged(address, 'missing');
  };

  const open = async (
    { address, key, size }: LocatedObject,
    range?: ByteRange,
    signal?: AbortSignal,
    scratch?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array>> => {
    const chunks = await blobs.open(key, range ?? { first: 0, last: size - 1 }, signal, scratch);
    if (chunks === undefined) throw damaged(address, 'missing');
    return chunks;
  };

  /** Whether the bytes are right, found by reading them. Those who ask meanwhile share the answer. */
  const isRight = (located: LocatedObject): Promise<boolean> => {
    const { key } = located;
    const begun = checking.get(key);
    if (begun !== undefined) return begun;
    const check = async (): Promise<boolean> => {
      const hash = createHash('sha256');
      for await (const chunk of await open(located)) hash.update(chunk);
      const isRight = matchesDigest(located, hash);
      note(located, isRight);
      return isRight;
    };
    const done = check().finally(() => checking.delete(key));
    checking.set(key, done);
    return done;
  };

  /** Hands out chunks, the last of them once all are known to be right. */
  async function* checkedChunks(located: LocatedObject, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of chunks) {
      hash.update(chunk);
      length += chunk.length;
      if (length >= located.size) {
        const isRight = matchesDigest(located, hash);
        note(located, isRight);
        if (!isRight) throw damaged(located.address, 'digest');
      }
      yield chunk;
    }
  }

  const readWhole = async (located: LocatedObject): Promise<Uint8Array | undefined> => {
    const bytes = Buffer.allocUnsafeSlow(located.size);
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of await open(located)) {
      hash.update(chunk);
      bytes.set(chunk, length);
      length += chunk.length;
    }
    const isRight = length === located.size && matchesDigest(located, hash);
    note(located, isRight);
    return isRight ? bytes : undefined;
  };

  const contentOf = (located: LocatedObject): StoredContent => ({
    size: located.size,
    async open(range, signal, scratch) {
      const isWhole = range === undefined || (range.first === 0 && range.last === located.size - 1);
      const known = noted(located);
      // What was wrong once is looked through before anything of it is sent, so that the answer can be an error.
      const isToBeRead = known === false || (known === undefined && !isWhole);
      if (isToBeRead && !(await isRight(located))) throw damaged(located.address, 'digest');
      const chunks = await open(located, range, signal, scratch);
      return isWhole ? checkedChunks(located, chunks) : chunks;
    },
    async read() {
      // Once more before it is called damaged: bytes may be spoilt on their way.
      const bytes = (await readWhole(located)) ?? (await readWhole(located));
      if (bytes === undefined) throw damaged(located.address, 'digest');
      return bytes;
    },
  });

  return {
    async find(address) {
      const located = await locate(address);
      return located && contentOf(located);
    },
  };
}

function matchesDigest({ address }: LocatedObject, hash: Hash): boolean {
  return hash.digest('base64url') === address;
}
