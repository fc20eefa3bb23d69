import type { ContentAddress } from '@tenon/protocol';

/**
 * Names one object of a blob store: the content address of its bytes and, after a dot, the generation in which they were stored.
 * The address alone is the key of the generation `''`, which restored data has and data that an older schema wrote.
 *
 * A generation is random and never used again. A deletion that arrives late therefore names an object that nothing relies on.
 */
export type BlobKey = ContentAddress | (string & { readonly brand: 'BlobKey' });

/** What a key consists of. */
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
