import { checkLabelExists, noSuchFunction, unknownOpcode } from './body-errors.ts';
import { BodyTrait, type CodeScan, type Cursor } from './code-cursor.ts';
import { invalidModule, unsupportedFeature } from './errors.ts';
import { canGrow, type Handlers } from './layout.ts';
import * as opcodes from './opcodes.ts';
import { addReturnSite, addSite } from './site-list.ts';
import { peekU32, skipBlockType, skipLeb, skipMemArg, skipValueType } from './skip.ts';

// The engine compiles a switch over constants of this module to a jump; over properties of an imported object it does not.
const { oneByteForms, prefixedForms, prefixedTableSize } = opcodes;
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
} = opcodes.Form;
const { canThrow, leavesEarly } = BodyTrait;

/** Reads one instruction of any kind, checks all that the rewriter relies on, and notes what it will need. */
export function scanInstruction(scan: CodeScan, cursor: Cursor): void {
  const { source, end, functionIndex, depth } = cursor;
  const opAt = cursor.pos;
  if (opAt >= end) throw invalidModule('Expected an instruction, found the end of the body', end, functionIndex);
  let pos = opAt + 1;
  let form = oneByteForms[source[opAt] as number] as number;
  if (form === Prefix) {
    const row = ((source[opAt] as number) - 0xfb) * prefixedTableSize;
    const opcode = peekU32(source, pos, end, functionIndex);
    pos = skipLeb(source, pos, 5, functionIndex);
    form = opcode < prefixedTableSize ? (prefixedForms[row + opcode] as number) : 0;
  }
  switch (form) {
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
      if (form === Call) cursor.traits |= canThrow;
      else if (index < importedFunctions.length) scan.referencedImports[index] = 1;
      addSite(cursor.sites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    }
    case Branch:
      pos = scanLabel(cursor, pos);
      break;
    case Return:
      cursor.traits |= leavesEarly;
      addReturnSite(cursor.sites, opAt, depth);
      break;
    case CallIndirect:
      cursor.traits |= canThrow;
      pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
      break;
    case CallRef:
    case Throw:
      cursor.traits |= canThrow;
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case BranchTable: {
      const count = peekU32(source, pos, end, functionIndex);
      if (count >= end - pos) throw invalidModule(`Expected labels, found a count of ${count}`, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      for (let index = 0; index <= count; index++) pos = scanLabel(cursor, pos);
      break;
    }
    case BranchOnCast:
      pos = scanLabel(cursor, pos + 1);
      pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
      break;
    case ReturnCall: {
      const index = peekU32(source, pos, end, functionIndex);
      if (index >= scan.module.functionTypes.length) throw noSuchFunction(index, pos, functionIndex);
      addSite(cursor.sites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    }
    case ReturnCallRef:
      addSite(cursor.sites, opAt);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case ReturnCallIndirect:
      addSite(cursor.sites, opAt);
      pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
      break;
    case MemoryGrow: {
      const index = peekU32(source, pos, end, functionIndex);
      const memory = scan.module.memories[index];
      if (memory === undefined) throw invalidModule(`Found memory.grow of memory ${index}`, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      if (!canGrow(memory)) break;
      scan.grownMemories[index] = 1;
      addSite(cursor.sites, opAt);
      break;
    }
    case Try:
      noteGeneration(scan, 'legacy', opAt, functionIndex);
      pos = skipBlockType(source, pos, functionIndex);
      cursor.depth++;
      break;
    case Delegate:
      noteGeneration(scan, 'legacy', opAt, functionIndex);
      if (depth === 0) throw invalidModule('Expected a try for this delegate', opAt, functionIndex);
      cursor.depth--;
      checkLabelExists(peekU32(source, pos, end, functionIndex), depth - 1, pos, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case Rethrow:
      noteGeneration(scan, 'legacy', opAt, functionIndex);
      cursor.traits |= canThrow;
      pos = skipLeb(source, pos, 5, functionIndex);
      break;
    case ThrowRef:
      noteGeneration(scan, 'exnref', opAt, functionIndex);
      cursor.traits |= canThrow;
      break;
    case TryTable:
      noteGeneration(scan, 'exnref', opAt, functionIndex);
      pos = scanCatches(cursor, skipBlockType(source, pos, functionIndex));
      cursor.depth++;
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

/** Reads a label that is branched to, and returns the offset after it. */
function scanLabel(cursor: Cursor, pos: number): number {
  const { source, end, functionIndex, depth } = cursor;
  const label = peekU32(source, pos, end, functionIndex);
  if (label >= depth) {
    checkLabelExists(label, depth, pos, functionIndex);
    cursor.traits |= leavesEarly;
  }
  return skipLeb(source, pos, 5, functionIndex);
}

/** Reads the catch clauses of a `try_table`, whose labels count from outside of it. */
function scanCatches(cursor: Cursor, start: number): number {
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
    pos = scanLabel(cursor, pos);
  }
  return pos;
}

/** Engines refuse a module that uses both generations of exception handling. */
function noteGeneration(scan: CodeScan, generation: Handlers, offset: number, functionIndex: number): void {
  if (scan.generation !== 'none' && scan.generation !== generation) {
    const feature = 'both generations of exception handling in one module';
    throw unsupportedFeature(feature, 'Found an instruction of the other generation', offset, functionIndex);
  }
  scan.generation = generation;
}
