import { type ByteWriter, putU32, reserve, u32Length } from './byte-writer.ts';
import { type InstrumentError, invalidModule, limitExceeded, unsupportedFeature } from './errors.ts';
import { framePrologueLength, putFrameEpilogue, putFramePrologue, putHookCall } from './frame.ts';
import { canGrow, type Handlers, type Layout } from './layout.ts';
import { maxFunctionBodyBytes } from './limits.ts';
import type { Module } from './module.ts';
import { Form, Op, oneByteForms, prefixedForms, prefixedTableSize, refusedFeature } from './opcodes.ts';
import { peekU32, skipBlockType, skipLeb, skipLocals, skipMemArg, skipValueType } from './skip.ts';
import type { TypePool } from './type-pool.ts';

/** More than everything that one change of the code adds: prologue and epilogue, or a tail call of an import. */
const slackBytes = 128;

/** What the code turned out to hold. */
export interface CodeFindings {
  /** The generation of exception handling that some instruction belongs to. */
  generation: Handlers;
  /** Memories that `memory.grow` grows, in the order of the helpers that stand for it. */
  readonly grownMemories: number[];
  /** 1 for an imported function of which `ref.func` takes a reference. */
  readonly referencedImports: Uint8Array;
  /** Blocks put around each body, by which the indices of its labels shift. */
  readonly addedLabels: Uint8Array;
  /** Functions whose body would have passed an engine's limit. */
  readonly leftUntraced: number[];
}

export interface BodyRewriter {
  readonly findings: CodeFindings;
  /**
   * Appends the rewritten body with its size. False if the layout assumed something that the body contradicts; then
   * `findings` say what, and nothing that was written is of use.
   */
  readonly rewriteBody: (functionIndex: number, start: number, end: number) => boolean;
}

/**
 * One pass over each body: runs of bytes between changed instructions are copied in one go, and nothing is allocated per
 * instruction. The only nesting that is kept is its depth.
 */
export function createBodyRewriter(module: Module, layout: Layout, types: TypePool, writer: ByteWriter): BodyRewriter {
  const source = module.bytes;
  const { importCount, functionCount, shift, callTargets, enterIndex, exitIndex, handlers } = layout;
  const hasTraced = layout.hooks.includes('enter');
  const helperOfMemory = new Int32Array(module.memories.length).fill(-1);
  const findings: CodeFindings = {
    generation: 'none',
    grownMemories: [],
    referencedImports: new Uint8Array(importCount),
    addedLabels: new Uint8Array(functionCount - importCount),
    leftUntraced: [],
  };

  function growHelperOf(memoryIndex: number): number {
    const existing = helperOfMemory[memoryIndex] as number;
    if (existing !== -1) return existing;
    const helper = layout.growHelpersIndex + findings.grownMemories.push(memoryIndex) - 1;
    helperOfMemory[memoryIndex] = helper;
    return helper;
  }

  /** Notes the generation; false if the layout's handlers are of another one. */
  function agreesWith(generation: Handlers, offset: number, functionIndex: number): boolean {
    if (findings.generation !== 'none' && findings.generation !== generation) {
      const feature = 'both generations of exception handling in one module';
      throw unsupportedFeature(feature, 'Found an instruction of the other generation', offset, functionIndex);
    }
    findings.generation = generation;
    return !hasTraced || handlers === generation;
  }

  function rewriteBody(functionIndex: number, start: number, end: number): boolean {
    const writtenBefore = writer.length;
    const isTraced = layout.traced[functionIndex] === 1;
    if (!rewrite(functionIndex, start, end, isTraced)) return false;
    if (writer.length - writtenBefore <= maxFunctionBodyBytes) return true;
    if (isTraced) {
      writer.length = writtenBefore;
      findings.leftUntraced.push(functionIndex);
      findings.addedLabels[functionIndex - importCount] = 0;
      if (!rewrite(functionIndex, start, end, false)) return false;
    }
    const size = writer.length - writtenBefore;
    if (size > maxFunctionBodyBytes + 4 && end - start <= maxFunctionBodyBytes) {
      throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, start);
    }
    return true;
  }

  function rewrite(functionIndex: number, start: number, end: number, isTraced: boolean): boolean {
    const outputIndex = functionIndex + shift;
    reserve(writer, end - start + slackBytes);
    let out = writer.bytes;
    const sizeAt = writer.length;
    const sizeLength = u32Length(end - start + 16);
    let at = sizeAt + sizeLength;
    let pos = skipLocals(source, start, end, functionIndex);
    at = copyRun(out, at, source, start, pos);
    if (isTraced) at = putHookCall(out, at, outputIndex, enterIndex);
    const codeAt = at;
    let copied = pos;
    let depth = 0;
    let canThrow = false;
    let leavesEarly = false;

    for (;;) {
      if (pos >= end) throw invalidModule('Expected an instruction, found the end of the body', end, functionIndex);
      const opAt = pos;
      let form = oneByteForms[source[pos++] as number] as number;
      if (form === Form.Prefix) {
        const prefix = source[opAt] as number;
        const opcode = peekU32(source, pos, end, functionIndex);
        pos = skipLeb(source, pos, 5, functionIndex);
        form = opcode < prefixedTableSize ? (prefixedForms[(prefix - 0xfb) * prefixedTableSize + opcode] as number) : 0;
      }
      switch (form) {
        case Form.None:
          break;
        case Form.Leb32:
          if (!((source[pos++] as number) < 0x80)) pos = skipLeb(source, pos - 1, 5, functionIndex);
          break;
        case Form.MemArg:
          pos = skipMemArg(source, pos, functionIndex);
          break;
        case Form.Block:
          pos = skipBlockType(source, pos, functionIndex);
          depth++;
          break;
        case Form.End:
          if (depth-- > 0) break;
          if (pos !== end) throw invalidModule('Expected the end of the body after its last end', pos, functionIndex);
          if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
          at = copyRun(out, at, source, copied, opAt);
          at = finishBody(out, at, codeAt, functionIndex, isTraced, canThrow, leavesEarly);
          writer.length = patchSize(out, sizeAt, sizeLength, at);
          return true;
        case Form.Branch: {
          const label = peekU32(source, pos, end, functionIndex);
          if (label >= depth) leavesEarly = checkLabel(label, depth, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          break;
        }
        case Form.Call:
        case Form.RefFunc: {
          const index = peekU32(source, pos, end, functionIndex);
          if (index >= functionCount) throw noSuchFunction(index, pos, functionIndex);
          const target = index < importCount ? (callTargets[index] as number) : index + shift;
          if (form === Form.Call) canThrow = true;
          else if (index < importCount) findings.referencedImports[index] = 1;
          const operandAt = pos;
          pos = skipLeb(source, pos, 5, functionIndex);
          if (target === index) break;
          if (at + (operandAt - copied) + slackBytes > out.length) out = growTo(writer, at, operandAt - copied);
          at = copyRun(out, at, source, copied, operandAt);
          at = putU32(out, at, target);
          copied = pos;
          break;
        }
        case Form.CallIndirect:
          canThrow = true;
          pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
          break;
        case Form.CallRef:
        case Form.Throw:
          canThrow = true;
          pos = skipLeb(source, pos, 5, functionIndex);
          break;
        case Form.Return:
          if (!isTraced) break;
          leavesEarly = true;
          if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
          at = copyRun(out, at, source, copied, opAt);
          out[at++] = Op.br;
          at = putU32(out, at, depth);
          copied = pos;
          break;
        case Form.BranchTable: {
          const count = peekU32(source, pos, end, functionIndex);
          if (count >= end - pos) throw invalidModule(`Expected labels, found a count of ${count}`, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          for (let index = 0; index <= count; index++) {
            const label = peekU32(source, pos, end, functionIndex);
            if (label >= depth) leavesEarly = checkLabel(label, depth, pos, functionIndex);
            pos = skipLeb(source, pos, 5, functionIndex);
          }
          break;
        }
        case Form.BranchOnCast: {
          const label = peekU32(source, pos + 1, end, functionIndex);
          if (label >= depth) leavesEarly = checkLabel(label, depth, pos + 1, functionIndex);
          pos = skipLeb(source, pos + 1, 5, functionIndex);
          pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
          break;
        }
        case Form.ReturnCall: {
          const index = peekU32(source, pos, end, functionIndex);
          if (index >= functionCount) throw noSuchFunction(index, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
          at = copyRun(out, at, source, copied, opAt);
          if (isTraced) at = putHookCall(out, at, outputIndex, exitIndex);
          if (index < importCount && layout.traced[index] === 1) {
            // A wrapper would keep its frame while the import runs; the depth of a tail call must not grow.
            at = putHookCall(out, at, index, enterIndex);
            at = putHookCall(out, at, index, exitIndex);
          }
          out[at++] = Op.returnCall;
          at = putU32(out, at, index < importCount ? index : index + shift);
          copied = pos;
          break;
        }
        case Form.ReturnCallRef:
        case Form.ReturnCallIndirect:
          if (isTraced) {
            if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
            at = copyRun(out, at, source, copied, opAt);
            at = putHookCall(out, at, outputIndex, exitIndex);
            copied = opAt;
          }
          pos = skipLeb(source, pos, 5, functionIndex);
          if (form === Form.ReturnCallIndirect) pos = skipLeb(source, pos, 5, functionIndex);
          break;
        case Form.MemoryGrow: {
          const index = peekU32(source, pos, end, functionIndex);
          const memory = module.memories[index];
          if (memory === undefined) throw invalidModule(`Found memory.grow of memory ${index}`, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          if (!canGrow(memory)) break;
          const helper = growHelperOf(index);
          if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
          at = copyRun(out, at, source, copied, opAt);
          out[at++] = Op.call;
          at = putU32(out, at, helper);
          copied = pos;
          break;
        }
        case Form.Try:
          if (!agreesWith('legacy', opAt, functionIndex)) return false;
          pos = skipBlockType(source, pos, functionIndex);
          depth++;
          break;
        case Form.Delegate:
          if (!agreesWith('legacy', opAt, functionIndex)) return false;
          if (depth === 0) throw invalidModule('Expected a try for this delegate', opAt, functionIndex);
          depth--;
          checkLabelExists(peekU32(source, pos, end, functionIndex), depth, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          break;
        case Form.Rethrow:
          if (!agreesWith('legacy', opAt, functionIndex)) return false;
          canThrow = true;
          pos = skipLeb(source, pos, 5, functionIndex);
          break;
        case Form.ThrowRef:
          if (!agreesWith('exnref', opAt, functionIndex)) return false;
          canThrow = true;
          break;
        case Form.TryTable: {
          if (!agreesWith('exnref', opAt, functionIndex)) return false;
          pos = skipBlockType(source, pos, functionIndex);
          const count = peekU32(source, pos, end, functionIndex);
          if (count >= end - pos)
            throw invalidModule(`Expected catches, found a count of ${count}`, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          for (let index = 0; index < count; index++) {
            const kind = source[pos++] as number;
            if (!(kind <= 3))
              throw invalidModule(`Expected a catch from 0 to 3, found ${kind}`, Math.min(pos - 1, end), functionIndex);
            if (kind <= 1) pos = skipLeb(source, pos, 5, functionIndex);
            const label = peekU32(source, pos, end, functionIndex);
            if (label >= depth) leavesEarly = checkLabel(label, depth, pos, functionIndex);
            pos = skipLeb(source, pos, 5, functionIndex);
          }
          depth++;
          break;
        }
        case Form.TwoLeb32:
          pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
          break;
        case Form.Leb64:
          pos = skipLeb(source, pos, 10, functionIndex);
          break;
        case Form.Byte:
          pos += 1;
          break;
        case Form.FourBytes:
          pos += 4;
          break;
        case Form.EightBytes:
          pos += 8;
          break;
        case Form.SixteenBytes:
          pos += 16;
          break;
        case Form.MemArgAndLane:
          pos = skipMemArg(source, pos, functionIndex) + 1;
          break;
        case Form.ValueTypes: {
          const count = peekU32(source, pos, end, functionIndex);
          if (count >= end - pos) throw invalidModule(`Expected types, found a count of ${count}`, pos, functionIndex);
          pos = skipLeb(source, pos, 5, functionIndex);
          for (let index = 0; index < count; index++) pos = skipValueType(source, pos, functionIndex);
          break;
        }
        default:
          throw unknownOpcode(source, opAt, end, functionIndex);
      }
    }
  }

  /** Puts around the code what keeps `exit` in step; a function that only falls off its end needs no block. */
  function finishBody(
    out: Uint8Array,
    end: number,
    codeAt: number,
    functionIndex: number,
    isTraced: boolean,
    canThrow: boolean,
    leavesEarly: boolean,
  ): number {
    let at = end;
    if (isTraced) {
      const frame = canThrow && handlers !== 'none' ? handlers : leavesEarly ? 'block' : 'bare';
      if (frame !== 'bare') {
        const blockType = types.blockTypeOf(module.functionTypes[functionIndex] as number);
        const prologue = framePrologueLength(frame, blockType);
        out.copyWithin(codeAt + prologue, codeAt, at);
        putFramePrologue(out, codeAt, frame, blockType);
        at += prologue;
        findings.addedLabels[functionIndex - importCount] = frame === 'exnref' ? 2 : 1;
      }
      return putFrameEpilogue(out, at, frame, (to) => putHookCall(out, to, functionIndex + shift, exitIndex));
    }
    out[at++] = Op.end;
    return at;
  }

  return { findings, rewriteBody };
}

/** Copies `source[from .. to)` to `out[at ..)` and returns the offset after it. A loop beats a call for short runs. */
function copyRun(out: Uint8Array, at: number, source: Uint8Array, from: number, to: number): number {
  if (to - from > 48) {
    out.set(source.subarray(from, to), at);
    return at + to - from;
  }
  for (let pos = from; pos < to; pos++) out[at++] = source[pos] as number;
  return at;
}

/** Makes room for a run of `runBytes` and a change after `at`, and returns the buffer that has it. */
function growTo(writer: ByteWriter, at: number, runBytes: number): Uint8Array {
  writer.length = at;
  reserve(writer, runBytes + slackBytes);
  return writer.bytes;
}

/** Writes the body's size in front of it, moving it where the size takes another number of bytes than was guessed. */
function patchSize(out: Uint8Array, sizeAt: number, guessedLength: number, end: number): number {
  const size = end - sizeAt - guessedLength;
  const length = u32Length(size);
  if (length !== guessedLength) out.copyWithin(sizeAt + length, sizeAt + guessedLength, end);
  putU32(out, sizeAt, size);
  return end + length - guessedLength;
}

/** True: the label is the function's own, which a depth of `depth` blocks leaves as the outermost. */
function checkLabel(label: number, depth: number, offset: number, functionIndex: number): true {
  checkLabelExists(label, depth, offset, functionIndex);
  return true;
}

function checkLabelExists(label: number, depth: number, offset: number, functionIndex: number): void {
  if (label > depth) throw invalidModule(`Expected a label up to ${depth}, found ${label}`, offset, functionIndex);
}

function noSuchFunction(index: number, offset: number, functionIndex: number): InstrumentError {
  return invalidModule(`Expected the index of a function, found ${index}`, offset, functionIndex);
}

function unknownOpcode(source: Uint8Array, opAt: number, end: number, functionIndex: number): InstrumentError {
  const byte = source[opAt] as number;
  const isPrefixed = oneByteForms[byte] === Form.Prefix;
  const opcode = isPrefixed ? peekU32(source, opAt + 1, end, functionIndex) : byte;
  const found = isPrefixed
    ? `Found opcode 0x${byte.toString(16)} 0x${opcode.toString(16)}`
    : `Found opcode 0x${byte.toString(16)}`;
  const feature = refusedFeature(isPrefixed ? byte : -1, opcode);
  if (feature !== undefined) return unsupportedFeature(feature, found, opAt, functionIndex);
  return invalidModule(`${found}, which no instruction has`, opAt, functionIndex);
}
