import { ImmediateKind, oneByteKinds, oneByteProposals, prefixedKinds, prefixedTableSize } from '../binary/opcodes.ts';
import { peekU32 } from '../binary/skip.ts';
import { isShortValueType } from '../binary/types.ts';

const kindsAt = 1024;
const prefixedKindsAt = 1280;
const entriesAt = 4096;
/** The first address in the kernel's memory behind its tables. */
export const kernelTablesEnd: number = entriesAt + 2 * 0x1_0000;

const entriesOf = (bytes: Uint8Array) => new Int16Array(bytes.buffer, entriesAt, 0x1_0000);

/** Fills the tables by which the kernel reads instructions. */
export function fillKernelTables(bytes: Uint8Array): void {
  bytes.set(oneByteKinds, kindsAt);
  bytes.set(prefixedKinds, prefixedKindsAt);
  fillEntries(entriesOf(bytes));
}

const isBlock = (opcode: number) =>
  oneByteKinds[opcode] === ImmediateKind.Block || oneByteKinds[opcode] === ImmediateKind.Try;
/** A block type that needs no proposal: empty, or a number. */
const isPlainBlockType = (byte: number) => byte === emptyBlock || (byte >= 0x7c && byte <= 0x7f);

/**
 * Changes the tables so that the kernel leaves instructions of proposals to the host, and blocks whose type may be part of
 * one. {@link noteSeen} changes them back for one kind of instruction.
 */
export function watchProposals(bytes: Uint8Array): void {
  const entries = entriesOf(bytes);
  bytes.fill(ImmediateKind.Unknown, prefixedKindsAt, prefixedKindsAt + prefixedKinds.length);
  for (let opcode = 0; opcode < 0x100; opcode++) {
    const isWatched = oneByteProposals[opcode] !== 0;
    if (!isWatched && !isBlock(opcode)) continue;
    if (oneByteKinds[opcode] !== ImmediateKind.Prefix) bytes[kindsAt + opcode] = ImmediateKind.Unknown;
    for (let next = 0; next < 0x100; next++) {
      if (isWatched || !isPlainBlockType(next)) entries[opcode | (next << 8)] = slowPath;
    }
  }
}

/**
 * Lets the kernel read what the host has seen: an instruction of the same opcode needs no other proposal. That isn't so for
 * types in an instruction. Only a block with a type index always needs the same one.
 */
export function noteSeen(bytes: Uint8Array, source: Uint8Array, pos: number): void {
  const opcode = source[pos] as number;
  const next = source[pos + 1] as number;
  const kind = oneByteKinds[opcode] as number;
  if (kind === ImmediateKind.Prefix) {
    const second = peekU32(source, pos + 1, source.length, 0);
    const at = (opcode - 0xfb) * prefixedTableSize + second;
    if (second < prefixedTableSize) bytes[prefixedKindsAt + at] = prefixedKinds[at] as number;
    return;
  }
  if (kind === ImmediateKind.Try || kind === ImmediateKind.TryTable || kind === ImmediateKind.HeapType) return;
  if (kind === ImmediateKind.Block) {
    if (next < emptyBlock || next >= 0x80) bytes[kindsAt + opcode] = kind;
    return;
  }
  bytes[kindsAt + opcode] = kind;
  const entries = entriesOf(bytes);
  for (let byte = 0; byte < 0x100; byte++) entries[opcode | (byte << 8)] = entryOf(kind, byte);
}

const oneShallower = 3 << 4;
const oneDeeper = 1 << 4;
/** The third byte may belong to the LEB128 that the entry counts two bytes of. */
const mayContinue = 1 << 7;
const slowPath = -0x8000;
const leastDepth = (depth: number): number => depth << 8;

/**
 * Fills the table of the fast path, by the first two bytes of an instruction: `entries[opcode | next << 8]`. The fields of
 * an entry are described in `scan-kernel.wat`. Most entries depend on the opcode alone, so a row of 256 is copied.
 */
function fillEntries(entries: Int16Array): void {
  const kinds = Array.from(oneByteKinds);
  const varying = kinds.flatMap((kind, opcode) =>
    kind === ImmediateKind.Block || kind === ImmediateKind.Branch ? [opcode] : [],
  );
  for (const [from, to] of [
    [0, 0x40],
    [0x40, 0x80],
    [0x80, 0x100],
  ] as const) {
    const row = Int16Array.from(kinds, (kind) => entryOf(kind, from));
    for (let next = from; next < to; next++) {
      entries.set(row, next << 8);
      for (const opcode of varying) entries[opcode | (next << 8)] = entryOf(kinds[opcode] as number, next);
    }
  }
}

/** The entry of an instruction with a kind of immediates, whose second byte is `next`. */
function entryOf(kind: number, next: number): number {
  const isLong = next >= 0x80;
  switch (kind) {
    case ImmediateKind.None:
      return 1;
    case ImmediateKind.Leb32:
    case ImmediateKind.Leb64:
      return isLong ? mayContinue | 3 : 2;
    case ImmediateKind.MemArg:
      return next < 0x40 ? mayContinue | 3 : slowPath; // from 0x40 on, a memory index follows
    case ImmediateKind.FourBytes:
      return 5;
    case ImmediateKind.EightBytes:
      return 9;
    case ImmediateKind.Block:
      return next === emptyBlock || isShortValueType[next] === 1 ? oneDeeper | 2 : slowPath;
    case ImmediateKind.End:
      return leastDepth(1) | oneShallower | 1;
    case ImmediateKind.Branch:
      return next < 0x7f ? leastDepth(next + 1) | 2 : slowPath;
    default:
      return slowPath;
  }
}

const emptyBlock = 0x40;
