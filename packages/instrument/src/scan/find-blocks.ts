import type { Module } from '../binary/module.ts';
import { ImmediateKind, Op, oneByteKinds, prefixedKinds, prefixedTableSize } from '../binary/opcodes.ts';
import { peekU32, skipBlockType, skipLeb } from '../binary/skip.ts';
import { type ChargedSize, chargedSizes } from './charged-sizes.ts';
import type { CodeVisitor } from './cursor.ts';
import { addProbeSite, type PatchSites } from './patch-sites.ts';

/** Probes that charge for the size on the operand stack, an i32 or an i64; {@link blockProbe} are the others. */
export const chargeProbes: Readonly<Record<ChargedSize, number>> = { i32: 0, i64: 1 };
/** The probe of the first block. */
export const blockProbe = 2;

const fieldsPerBlock = 4;
const [startField, endField, costField, labelField] = [0, 1, 2, 3] as const;

/**
 * The basic blocks of the code, in order: reachable instructions that run one after the other. One begins at
 *
 * - the first instruction of a body,
 * - the first instruction of a `loop`, of an arm of an `if`, and of a `catch`,
 * - the instruction after a conditional branch,
 * - the instruction after an `end` that more than one path reaches, or one that branches.
 *
 * `end`, `block`, and `loop` begin no block, except for the first one of a body. A call doesn't end a block, so a block
 * counts although a call in it traps or throws.
 */
export interface CodeBlocks {
  readonly count: number;
  /** Per body its first block; the last entry is the number of blocks. */
  readonly firstBlocks: Uint32Array;
  /** The offset in the module of the first instruction. */
  readonly start: (block: number) => number;
  /** The offset after the last instruction. */
  readonly end: (block: number) => number;
  /** The number of instructions, except for those that only delimit blocks: `block`, `loop`, `else`, `end`, and `catch`. */
  readonly cost: (block: number) => number;
  /** Whether the block begins a `loop`, or a body that calls a function. Every cycle in the program passes such a block. */
  readonly isCycleStart: (block: number) => boolean;
  /** The number of labels that the body defines before the block. */
  readonly labels: (block: number) => number;
}

/** A block, loop, or body part that is open. */
const Frame = {
  /** Its first instruction is reachable. */
  entered: 1,
  /** A reachable branch leads to its end. */
  targeted: 2,
  loop: 4,
  /** An `if` without `else` so far. */
  if: 8,
  /** The end of an earlier arm reaches the end. */
  armReachesEnd: 16,
} as const;

const unreachableOp = Op.unreachable;
const brOp = Op.br;

/** Finds blocks while {@link scanCode} scans, and adds a probe for each. With `charges`, also one for each bulk instruction. */
export function createBlockFinder(
  module: Module,
  bodyCount: number,
  charges: boolean,
): { readonly visitor: CodeVisitor; readonly finish: () => CodeBlocks } {
  const source = module.bytes;
  const sizes = charges ? chargedSizes(module) : undefined;
  const firstBlocks = new Uint32Array(bodyCount + 1);
  let table = new Uint32Array(1024);
  let count = 0;
  let body = 0;
  const frames: number[] = [];
  let isFirst = true;
  let reachable = true;
  let open = -1;
  let labels = 0;
  /** Whether the open block ends before the next instruction. */
  let ends = false;
  /** Whether the next block starts a cycle. */
  let startsCycle = true;
  let calls = false;

  function begin(offset: number, patchSites: PatchSites): void {
    if (open !== -1 || !reachable) return;
    if ((count + 1) * fieldsPerBlock > table.length) {
      const grown = new Uint32Array(2 * table.length);
      grown.set(table);
      table = grown;
    }
    open = count++;
    const at = open * fieldsPerBlock;
    table[at + startField] = offset;
    table[at + costField] = startsCycle ? cycleBit : 0;
    table[at + labelField] = labels;
    startsCycle = false;
    addProbeSite(patchSites, offset, blockProbe + open);
  }

  /** Counts an instruction. */
  function step(offset: number, patchSites: PatchSites): void {
    begin(offset, patchSites);
    if (open !== -1) (table[open * fieldsPerBlock + costField] as number)++;
  }

  function close(offset: number): void {
    if (open !== -1) table[open * fieldsPerBlock + endField] = offset;
    open = -1;
    ends = false;
  }

  function leave(): void {
    ends = true;
    reachable = false;
  }

  function openFrame(bits: number): void {
    labels++;
    frames.push(bits | (reachable ? Frame.entered : 0));
  }

  function closeFrame(): void {
    const frame = frames.pop() ?? 0;
    const skipsArm = (frame & Frame.if) !== 0 && (frame & Frame.entered) !== 0;
    if (!skipsArm && (frame & (Frame.targeted | Frame.armReachesEnd)) === 0) return;
    ends = true;
    reachable = true;
  }

  function nextArm(offset: number): void {
    close(offset);
    const frame = frames.pop() ?? 0;
    const after = (frame & ~Frame.if) | (reachable ? Frame.armReachesEnd : 0);
    frames.push(after);
    reachable = (after & Frame.entered) !== 0;
  }

  function target(label: number): void {
    const place = frames.length - 1 - label;
    const frame = frames[place];
    if (reachable && frame !== undefined && (frame & Frame.loop) === 0) frames[place] = frame | Frame.targeted;
  }

  /** Reads the label at `pos`, and returns the offset after it. */
  function readLabel(pos: number, end: number, functionIndex: number): number {
    target(peekU32(source, pos, end, functionIndex));
    return skipLeb(source, pos, 5, functionIndex);
  }

  function readCatches(start: number, end: number, functionIndex: number): void {
    let pos = skipBlockType(source, start, functionIndex);
    const catches = peekU32(source, pos, end, functionIndex);
    pos = skipLeb(source, pos, 5, functionIndex);
    for (let index = 0; index < catches && pos < end; index++) {
      const kind = source[pos++] as number;
      if (kind <= 1) pos = skipLeb(source, pos, 5, functionIndex);
      pos = readLabel(pos, end, functionIndex);
    }
  }

  const { Block, Try, TryTable, End, Delegate, Catch, Branch, BranchTable, BranchOnCast } = ImmediateKind;
  const {
    Call,
    CallRef,
    CallIndirect,
    Return,
    ReturnCall,
    ReturnCallRef,
    ReturnCallIndirect,
    Throw,
    ThrowRef,
    Rethrow,
    Prefix,
  } = ImmediateKind;

  function onInstruction(offset: number, end: number, functionIndex: number, patchSites: PatchSites): void {
    if (ends) close(offset);
    const opcode = source[offset] as number;
    let kind = oneByteKinds[opcode] as number;
    let pos = offset + 1;
    if (kind === Prefix) {
      const second = peekU32(source, pos, end, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      kind = second < prefixedTableSize ? (prefixedKinds[(opcode - 0xfb) * prefixedTableSize + second] as number) : 0;
    }
    if (isFirst) begin(offset, patchSites);
    isFirst = false;
    switch (kind) {
      case Block:
        if (opcode === Op.if) step(offset, patchSites);
        if (opcode !== Op.block) ends = true;
        if (opcode === Op.loop && reachable) startsCycle = true;
        openFrame(opcode === Op.loop ? Frame.loop : opcode === Op.if ? Frame.if : 0);
        return;
      case Try:
        step(offset, patchSites);
        openFrame(0);
        return;
      case TryTable:
        step(offset, patchSites);
        readCatches(pos, end, functionIndex);
        openFrame(0);
        return;
      case End:
      case Delegate:
        closeFrame();
        return;
      case Catch:
        nextArm(offset);
        return;
      case Branch:
        step(offset, patchSites);
        readLabel(pos, end, functionIndex);
        if (opcode === brOp) leave();
        ends = true;
        return;
      case BranchOnCast:
        step(offset, patchSites);
        readLabel(pos + 1, end, functionIndex);
        ends = true;
        return;
      case BranchTable: {
        step(offset, patchSites);
        const last = peekU32(source, pos, end, functionIndex);
        pos = skipLeb(source, pos, 5, functionIndex);
        for (let index = 0; index <= last && pos < end; index++) pos = readLabel(pos, end, functionIndex);
        leave();
        return;
      }
      case Call:
      case CallRef:
      case CallIndirect:
        calls = true;
        step(offset, patchSites);
        return;
      case ReturnCall:
      case ReturnCallRef:
      case ReturnCallIndirect:
        calls = true;
        step(offset, patchSites);
        leave();
        return;
      case Return:
      case Throw:
      case ThrowRef:
      case Rethrow:
        step(offset, patchSites);
        leave();
        return;
      default: {
        if (opcode === Op.else || opcode === Op.catchAll) {
          nextArm(offset);
          return;
        }
        step(offset, patchSites);
        if (opcode === unreachableOp) leave();
        const size = sizes !== undefined && opcode >= 0xfb && reachable ? sizes(offset, end) : undefined;
        if (size !== undefined) addProbeSite(patchSites, offset, chargeProbes[size]);
      }
    }
  }

  function onBodyEnd(end: number, patchSites: PatchSites): void {
    if (ends) close(end - 1);
    if (isFirst) begin(end - 1, patchSites);
    close(end);
    if (!calls) (table[(firstBlocks[body] as number) * fieldsPerBlock + costField] as number) &= ~cycleBit;
    firstBlocks[++body] = count;
    frames.length = 0;
    isFirst = true;
    reachable = true;
    startsCycle = true;
    calls = false;
    labels = 0;
  }

  const field = (place: number) => (block: number) => table[block * fieldsPerBlock + place] as number;
  const cost = field(costField);
  return {
    visitor: { onLocals() {}, onInstruction, onBodyEnd },
    finish: () => ({
      count,
      firstBlocks,
      start: field(startField),
      end: field(endField),
      cost: (block) => cost(block) & ~cycleBit,
      isCycleStart: (block) => (cost(block) & cycleBit) !== 0,
      labels: field(labelField),
    }),
  };
}

/** The cost of a block is below this bit: a body has fewer bytes. */
const cycleBit = 1 << 30;
