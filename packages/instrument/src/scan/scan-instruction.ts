import { canGrow } from '../binary/module.ts';
import * as opcodes from '../binary/opcodes.ts';
import { peekU32, skipBlockType, skipHeapType, skipLeb, skipMemArg, skipValueType } from '../binary/skip.ts';
import { countBlock, countType, countValues } from '../binary/validation-cost.ts';
import { invalidModule, unsupportedFeature } from '../errors.ts';
import { checkLabel, noSuchFunction, unknownOpcode } from './body-errors.ts';
import { BodyTrait, type CodeScan, type Cursor, type ExceptionHandling } from './cursor.ts';
import { addPatchSite, addReturnSite } from './patch-sites.ts';

// V8 compiles a switch over constants of this module to a jump, but not one over properties of an imported object.
const { oneByteKinds, prefixedKinds, prefixedTableSize } = opcodes;
const {
  Prefix,
  None,
  Byte,
  Leb32,
  TwoLeb32,
  Leb64,
  FourBytes,
  EightBytes,
  SixteenBytes,
  MemArg,
  MemArgAndLane,
  ValueTypes,
  Block,
  Try,
  TryTable,
  End,
  Delegate,
  Branch,
  BranchTable,
  BranchOnCast,
  Return,
  Call,
  ReturnCall,
  RefFunc,
  CallRef,
  CallIndirect,
  ReturnCallRef,
  ReturnCallIndirect,
  MemoryGrow,
  Throw,
  ThrowRef,
  Rethrow,
  HeapType,
  Catch,
  StructNew,
  ArrayNewFixed,
} = opcodes.ImmediateKind;
const { canThrow, leavesEarly } = BodyTrait;

/** The slow path: reads one instruction of any kind, checks it, and records what the rewriter needs. */
export function scanInstruction(scan: CodeScan, cursor: Cursor): void {
  const { source, end, functionIndex, depth } = cursor;
  const opAt = cursor.pos;
  if (opAt >= end) throw invalidModule('Expected an instruction, found the end of the body', end, functionIndex);
  let pos = opAt + 1;
  let kind = oneByteKinds[source[opAt] as number] as number;
  if (kind === Prefix) {
    const row = ((source[opAt] as number) - 0xfb) * prefixedTableSize;
    const opcode = peekU32(source, pos, end, functionIndex);
    pos = skipLeb(source, pos, 5, functionIndex);
    kind = opcode < prefixedTableSize ? (prefixedKinds[row + opcode] as number) : 0;
  }
  switch (kind) {
    case None:
      break;
    case Leb32:
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case MemArg:
      pos = skipMemArg(source, pos, functionIndex);
      break;
    case Leb64:
      pos = skipLeb(source, pos, 10, functionIndex);
      break;
    case Block:
      noteBlock(scan, cursor, pos);
      pos = skipBlockType(source, pos, functionIndex);
      cursor.depth++;
      break;
    case End:
      if (depth === 0 && pos !== end) {
        throw invalidModule('Expected the end of the body after its last end', pos, functionIndex);
      }
      cursor.depth--;
      break;
    case Call:
    case RefFunc: {
      const index = peekU32(source, pos, end, functionIndex);
      const { importedFunctions, functionTypes } = scan.module;
      if (index >= functionTypes.length) throw noSuchFunction(index, pos, functionIndex);
      if (kind === Call) {
        cursor.traits |= canThrow;
        countType(scan.module.cost, functionTypes[index] as number, opAt);
      } else if (index < importedFunctions.length) scan.referencedImports[index] = 1;
      addPatchSite(cursor.patchSites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    }
    case Branch:
      pos = scanLabel(scan, cursor, pos);
      break;
    case Return:
      cursor.traits |= leavesEarly;
      countType(scan.module.cost, cursor.typeIndex, opAt);
      addReturnSite(cursor.patchSites, opAt, depth);
      break;
    case CallIndirect:
    case CallRef:
      cursor.traits |= canThrow;
      countType(scan.module.cost, peekU32(source, pos, end, functionIndex), opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      if (kind === CallIndirect) pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case Throw:
      cursor.traits |= canThrow;
      countValues(scan.module.cost, scan.module.cost.widestTag, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case BranchTable: {
      const count = peekU32(source, pos, end, functionIndex);
      if (count >= end - pos) throw invalidModule(`Expected labels, found a count of ${count}`, pos, functionIndex);
      // Engines keep state for each block around a branch table.
      countValues(scan.module.cost, depth, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      for (let index = 0; index <= count; index++) pos = scanLabel(scan, cursor, pos);
      break;
    }
    case BranchOnCast:
      pos = scanLabel(scan, cursor, pos + 1);
      pos = skipHeapType(source, skipHeapType(source, pos, functionIndex), functionIndex);
      break;
    case HeapType:
      pos = skipHeapType(source, pos, functionIndex);
      break;
    case ReturnCall: {
      const index = peekU32(source, pos, end, functionIndex);
      const { functionTypes, cost } = scan.module;
      if (index >= functionTypes.length) throw noSuchFunction(index, pos, functionIndex);
      countType(cost, functionTypes[index] as number, opAt);
      addPatchSite(cursor.patchSites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    }
    case ReturnCallIndirect:
    case ReturnCallRef:
      countType(scan.module.cost, peekU32(source, pos, end, functionIndex), opAt);
      addPatchSite(cursor.patchSites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      if (kind === ReturnCallIndirect) pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case MemoryGrow: {
      const index = peekU32(source, pos, end, functionIndex);
      const memory = scan.module.memories[index];
      if (memory === undefined) throw invalidModule(`Found memory.grow of memory ${index}`, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      if (!canGrow(memory)) break;
      scan.grownMemories[index] = 1;
      addPatchSite(cursor.patchSites, opAt);
      break;
    }
    case Try:
      noteExceptionHandling(scan, 'legacy', opAt, functionIndex);
      noteBlock(scan, cursor, pos);
      pos = skipBlockType(source, pos, functionIndex);
      cursor.depth++;
      break;
    case Delegate:
      noteExceptionHandling(scan, 'legacy', opAt, functionIndex);
      if (depth === 0) throw invalidModule('Expected a try for this delegate', opAt, functionIndex);
      cursor.depth--;
      checkLabel(peekU32(source, pos, end, functionIndex), depth - 1, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case Rethrow:
      noteExceptionHandling(scan, 'legacy', opAt, functionIndex);
      cursor.traits |= canThrow;
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case ThrowRef:
      noteExceptionHandling(scan, 'exnref', opAt, functionIndex);
      cursor.traits |= canThrow;
      break;
    case TryTable:
      noteExceptionHandling(scan, 'exnref', opAt, functionIndex);
      noteBlock(scan, cursor, pos);
      pos = scanCatches(scan, cursor, skipBlockType(source, pos, functionIndex));
      cursor.depth++;
      break;
    case Catch:
      countValues(scan.module.cost, scan.module.cost.widestTag, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case StructNew:
      countType(scan.module.cost, peekU32(source, pos, end, functionIndex), opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case ArrayNewFixed:
      pos = skipLeb(source, pos, 5, functionIndex);
      countValues(scan.module.cost, Math.min(peekU32(source, pos, end, functionIndex), maxFixedElements), opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case TwoLeb32:
      pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
      break;
    case Byte:
      pos += 1;
      break;
    case FourBytes:
      pos += 4;
      break;
    case EightBytes:
      pos += 8;
      break;
    case SixteenBytes:
      pos += 16;
      break;
    case MemArgAndLane:
      pos = skipMemArg(source, pos, functionIndex) + 1;
      break;
    case ValueTypes: {
      const count = peekU32(source, pos, end, functionIndex);
      if (count >= end - pos) throw invalidModule(`Expected types, found a count of ${count}`, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      for (let index = 0; index < count; index++) pos = skipValueType(source, pos, functionIndex);
      break;
    }
    default:
      throw unknownOpcode(source, opAt, end, functionIndex);
  }
  cursor.pos = pos;
}

/** Engines reject an `array.new_fixed` of more elements without checking them. */
const maxFixedElements = 10_000;

function noteBlock(scan: CodeScan, cursor: Cursor, typeAt: number): void {
  const width = countBlock(scan.module.cost, cursor.source, typeAt, cursor.end);
  if (width > cursor.widestBlock) cursor.widestBlock = width;
}

/** Reads the label of a branch, and returns the offset after it. */
function scanLabel(scan: CodeScan, cursor: Cursor, pos: number): number {
  const { source, end, functionIndex, depth } = cursor;
  const label = peekU32(source, pos, end, functionIndex);
  if (label >= depth) {
    checkLabel(label, depth, pos, functionIndex);
    cursor.traits |= leavesEarly;
    countType(scan.module.cost, cursor.typeIndex, pos);
  }
  return skipLeb(source, pos, 5, functionIndex);
}

/** Reads the catch clauses of a `try_table`, whose labels count from outside of it. */
function scanCatches(scan: CodeScan, cursor: Cursor, start: number): number {
  const { source, end, functionIndex } = cursor;
  const count = peekU32(source, start, end, functionIndex);
  if (count >= end - start) throw invalidModule(`Expected catches, found a count of ${count}`, start, functionIndex);
  let pos = skipLeb(source, start, 5, functionIndex);
  for (let index = 0; index < count; index++) {
    const kind = source[pos] as number;
    if (pos >= end || kind > 3) {
      throw invalidModule(`Expected a catch from 0 to 3, found ${kind}`, Math.min(pos, end), functionIndex);
    }
    pos++;
    if (kind <= 1) pos = skipLeb(source, pos, 5, functionIndex);
    countValues(scan.module.cost, scan.module.cost.widestTag, pos);
    pos = scanLabel(scan, cursor, pos);
  }
  return pos;
}

/** Engines refuse a module that uses both legacy and exnref exception handling. */
export function noteExceptionHandling(
  scan: CodeScan,
  found: ExceptionHandling,
  offset: number,
  functionIndex: number,
): void {
  if (scan.exceptionHandling !== 'none' && scan.exceptionHandling !== found) {
    const feature = 'legacy and exnref exception handling in one module';
    throw unsupportedFeature(feature, 'Found an instruction of the other kind', offset, functionIndex);
  }
  scan.exceptionHandling = found;
}
