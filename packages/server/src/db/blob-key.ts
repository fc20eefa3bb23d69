import type { ContentAddress } from '@tenon/protocol';

/**
 * The key of an object in a blob store: the content address of its bytes, a dot, and the generation in which they were stored. The
 * generation `''`, which restored data has, has no dot.
 *
 * Each publish of new bytes stores them in a new random generation. Therefore a deletion that takes effect late can't delete bytes that
 * were published again in the meantime.
 */
export type BlobKey = ContentAddress | (string & { readonly brand: 'BlobKey' });

/** The parts of a {@link BlobKey}. */
export interface BlobId {
  readonly address: ContentAddress;
  /** 24 hexadecimal digits, or `''`. */
  readonly generation: string;
}

const generationBytes = 12;

export function newGeneration(random: (length: number) => Uint8Array): string {
  return Buffer.from(random(generationBytes)).toString('hex');
}

export function blobKey({ address, generation }: BlobId): BlobKey {
  return generation === '' ? address : (`${address}.${generation}` as BlobKey);
}

export function parseBlobKey(key: BlobKey): BlobId {
  const dot = key.indexOf('.');
  if (dot === -1) return { address: key as ContentAddress, generation: '' };
  return { address: key.slice(0, dot) as ContentAddress, generation: key.slice(dot + 1) };
}
