import type { Module } from '../binary/module.ts';
import {
  ImmediateKind,
  Op,
  oneByteKinds,
  oneByteProposals,
  prefixedProposals,
  prefixedTableSize,
} from '../binary/opcodes.ts';
import { ProposalBit } from '../binary/proposals.ts';
import { readerOver } from '../binary/reader.ts';
import { peekU32, skipLeb, skipValueType } from '../binary/skip.ts';
import { heapTypeBits, valueTypesBits } from '../binary/type-proposals.ts';
import { countBranches, countLocals } from '../binary/validation-cost.ts';
import type { CodeScan, Cursor } from './cursor.ts';
import { createPatchSites, type PatchSites } from './patch-sites.ts';
import { scanInstruction } from './scan-instruction.ts';

/** The proposals behind the instruction at an offset, but for the types in it. */
export function instructionBits(source: Uint8Array, opAt: number, end: number, functionIndex: number): number {
  const byte = source[opAt] as number;
  if (byte === Op.refNull) return ProposalBit.referenceTypes | heapTypeBits(source[opAt + 1] as number);
  if (oneByteKinds[byte] !== ImmediateKind.Prefix) return oneByteProposals[byte] as number;
  const opcode = peekU32(source, opAt + 1, end, functionIndex);
  return opcode < prefixedTableSize ? (prefixedProposals[(byte - 0xfb) * prefixedTableSize + opcode] as number) : 0;
}

/** The proposals behind the function bodies: instructions, locals, and the types of blocks. */
export function codeBits(module: Module, bounds: Uint32Array): number {
  const scan: CodeScan = {
    module,
    bounds,
    exceptionHandling: 'none',
    grownMemories: new Uint8Array(module.memories.length),
    referencedImports: new Uint8Array(module.importedFunctions.length),
    traits: new Uint8Array(bounds.length / 2),
    partitions: [],
    advance: () => {},
  };
  // The scan notes there what the rewriter would change, which nobody asks for here.
  const patchSites = createPatchSites(0, 4096);
  let bits = 0;
  for (let body = 0; 2 * body < bounds.length; body++) bits |= bodyBits(scan, body, patchSites);
  return bits;
}

function bodyBits(scan: CodeScan, body: number, patchSites: PatchSites): number {
  const { module, bounds } = scan;
  const source = module.bytes;
  const start = bounds[2 * body] as number;
  const end = bounds[2 * body + 1] as number;
  const functionIndex = module.importedFunctions.length + body;
  const typeIndex = module.functionTypes[functionIndex] as number;
  patchSites.length = 0;
  patchSites.last = start;
  let bits = 0;
  const onType = (type: number): void => {
    bits |= type;
  };
  const cursor: Cursor = {
    source,
    firstBody: body,
    lastBody: body + 1,
    patchSites,
    body,
    functionIndex,
    typeIndex,
    widestBlock: 0,
    end,
    fastEnd: end,
    pos: readLocals(source, start, end, functionIndex, onType),
    depth: 0,
    lowest: 0,
    traits: 0,
  };
  while (cursor.depth >= 0) {
    const opAt = cursor.pos;
    const kind = oneByteKinds[source[opAt] as number] as number;
    bits |= instructionBits(source, opAt, end, functionIndex);
    if (kind === ImmediateKind.Block || kind === ImmediateKind.Try || kind === ImmediateKind.TryTable)
      bits |= blockTypeBits(source, opAt + 1, end);
    scanInstruction(scan, cursor);
  }
  countLocals(module.cost, source, start, end, typeIndex, functionIndex);
  countBranches(module.cost, end - start, cursor.widestBlock, start);
  return bits;
}

/** Reads the declarations of locals, and returns the offset after them. */
function readLocals(
  source: Uint8Array,
  start: number,
  end: number,
  functionIndex: number,
  onType: (bits: number) => void,
): number {
  const runs = peekU32(source, start, end, functionIndex);
  let pos = skipLeb(source, start, 5, functionIndex);
  for (let run = 0; run < runs; run++) {
    peekU32(source, pos, end, functionIndex);
    pos = skipLeb(source, pos, 5, functionIndex);
    onType(valueTypesBits(readerOver(source, pos, end), 1));
    pos = skipValueType(source, pos, functionIndex);
  }
  return pos;
}

/** Nothing, one value, or the index of a type, which came with several values. */
function blockTypeBits(source: Uint8Array, start: number, end: number): number {
  const byte = source[start] as number;
  if (byte === 0x40) return 0;
  const isType = (byte & 0xc0) === 0x40;
  return isType ? valueTypesBits(readerOver(source, start, end), 1) : ProposalBit.multiValue;
}
