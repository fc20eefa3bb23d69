import { ImmediateKind, oneByteKinds } from '../binary/opcodes.ts';

/** The bits of a packed descriptor that the scan's fast path tests. */
export const descriptorBits: Readonly<Record<'branchBit' | 'slowPathBit' | 'lebBits', number>> = {
  branchBit: 1 << 31,
  slowPathBit: 1 << 24,
  /** Bits of the instruction that must be clear if its descriptor has them set. */
  lebBits: (1 << 23) | (1 << 15) | (1 << 14) | (1 << 13),
};

const { branchBit, slowPathBit } = descriptorBits;

const sameDepth = 1 << 4;
const deeper = 2 << 4;
const oneLeb = 1 << 15;
const shortBlockType = (1 << 15) | (1 << 13);
const memArg = (1 << 23) | (1 << 15) | (1 << 14);

/**
 * A packed descriptor for each opcode. Its upper bits are laid out like the instruction's first four bytes, read as one
 * little-endian word with the opcode in the lowest byte:
 *
 *     bit 31      a branch: its label is in byte 1
 *     bit 24      slow path: a call, a return, a prefix, …
 *     bit 23      byte 2 belongs to a LEB128, which has one byte only if the highest bit of byte 2 is clear
 *     bit 15      the same for byte 1
 *     bit 14      a memory argument: that bit of byte 1 is set if a memory index follows
 *     bit 13      a block type: that bit of byte 1 is clear in a type of one byte that is empty or a low type index
 *     bit 5, 4    1 plus the change of the nesting depth
 *     bit 3 … 0   the length of the instruction if every LEB128 in it has one byte
 *
 * The length is right exactly if `word & descriptor & lebBits` is zero. The fast path is right if, in addition, the slow
 * path bit is clear and a branch stays inside the function:
 *
 *     (((word & lebBits) | slowPathBit | ((depth - 1 - label) & branchBit)) & descriptor) === 0
 */
export const opcodeDescriptors: Int32Array = Int32Array.from(oneByteKinds, (kind) => {
  if (kind === ImmediateKind.None) return sameDepth | 1;
  if (kind === ImmediateKind.Leb32 || kind === ImmediateKind.Leb64) return sameDepth | oneLeb | 2;
  if (kind === ImmediateKind.MemArg) return sameDepth | memArg | 3;
  if (kind === ImmediateKind.FourBytes) return sameDepth | 5;
  if (kind === ImmediateKind.EightBytes) return sameDepth | 9;
  if (kind === ImmediateKind.Block) return deeper | shortBlockType | 2;
  if (kind === ImmediateKind.End) return 1;
  if (kind === ImmediateKind.Branch) return sameDepth | branchBit | oneLeb | 2;
  return sameDepth | slowPathBit;
});
