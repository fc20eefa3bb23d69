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
  /** Whether an address is that of a block: its first byte. */
  readonly isBlock: (address: bigint) => boolean;
  readonly clear: () => void;
  readonly totalBytes: () => number;
}

const defaultMaxBytes = 1 << 30;
const offsetBits = 48n;
/** The bits of an address above those of the offset are an index. */
const maxBlocks = 2 ** 16 - 1;

/** The offset within a block that an address means. */
export function offsetOf(address: bigint): number {
  return Number(BigInt.asUintN(Number(offsetBits), address));
}

/** Creates blocks as @extism/extism does: the upper bits of an address are an index, and the null address has no block. */
export function createBlocks(maxBytes = defaultMaxBytes): Blocks {
  let blocks: (DataView<ArrayBuffer> | undefined)[] = [undefined];
  /** Indices that are used again when all others have been used. */
  let freed: number[] = [];
  let total = 0;
  const indexOf = (address: bigint) => Number(BigInt.asUintN(64, address) >> offsetBits);
  const add = (length: number): { readonly address: bigint; readonly bytes: ArrayBuffer } => {
    if (total + length > maxBytes) {
      const limit = `${Math.floor(maxBytes / 1024 ** 2)} MiB`;
      throw new RunFailure(`The plugin uses more than ${limit} of memory shared with the host`);
    }
    const index = blocks.length <= maxBlocks ? blocks.length : freed.pop();
    if (index === undefined) throw new RunFailure(`The plugin uses more than ${maxBlocks} blocks of shared memory`);
    const bytes = new ArrayBuffer(length);
    total += length;
    blocks[index] = new DataView(bytes);
    return { address: BigInt.asIntN(64, BigInt(index) << offsetBits), bytes };
  };
  return {
    alloc: (length) => add(Number(BigInt.asUintN(64, length))).address,
    free(address) {
      const index = indexOf(address);
      const block = blocks[index];
      if (block === undefined) return;
      total -= block.byteLength;
      blocks[index] = undefined;
      freed.push(index);
    },
    at: (address) => blocks[indexOf(address)],
    put(content) {
      const { address, bytes } = add(content.length);
      new Uint8Array(bytes).set(content);
      return address;
    },
    isBlock: (address) => blocks[indexOf(address)] !== undefined && offsetOf(address) === 0,
    clear() {
      blocks = [undefined];
      freed = [];
      total = 0;
    },
    totalBytes: () => total,
  };
}
