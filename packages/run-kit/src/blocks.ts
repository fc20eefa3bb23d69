import { RunFailure } from './ending.ts';

/** Memory that a plugin and its host share. */
export interface Blocks {
  /** @returns the address of a new block, filled with zeros */
  readonly alloc: (length: bigint) => bigint;
  readonly free: (address: bigint) => void;
  /** The block at an address; `undefined` if no block starts there. */
  readonly at: (address: bigint) => DataView<ArrayBuffer> | undefined;
  /** Copies bytes into a new block. */
  readonly put: (bytes: Uint8Array) => bigint;
  readonly clear: () => void;
  readonly totalBytes: () => number;
}

const maxBytes = 1 << 30;
const offsetBits = 48n;

/** The offset within a block that an address means. */
export function offsetOf(address: bigint): number {
  return Number(BigInt.asUintN(Number(offsetBits), address));
}

/** Creates blocks as @extism/extism does: the upper bits of an address are an index, and the null address has no block. */
export function createBlocks(): Blocks {
  let blocks: (DataView<ArrayBuffer> | undefined)[] = [undefined];
  let total = 0;
  const indexOf = (address: bigint) => Number(BigInt.asUintN(64, address) >> offsetBits);
  const add = (length: number): { readonly address: bigint; readonly bytes: ArrayBuffer } => {
    if (total + length > maxBytes)
      throw new RunFailure('The plugin uses more than 1 GiB of memory shared with the host');
    const bytes = new ArrayBuffer(length);
    total += length;
    blocks.push(new DataView(bytes));
    return { address: BigInt(blocks.length - 1) << offsetBits, bytes };
  };
  return {
    alloc: (length) => add(Number(BigInt.asUintN(64, length))).address,
    free(address) {
      const index = indexOf(address);
      total -= blocks[index]?.byteLength ?? 0;
      blocks[index] &&= undefined;
    },
    at: (address) => blocks[indexOf(address)],
    put(content) {
      const { address, bytes } = add(content.length);
      new Uint8Array(bytes).set(content);
      return address;
    },
    clear() {
      blocks = [undefined];
      total = 0;
    },
    totalBytes: () => total,
  };
}
