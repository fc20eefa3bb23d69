import { agreesWith, type BodyContext, growHelperOf } from './body-context.ts';
import { checkLabel, checkLabelExists, noSuchFunction, unknownOpcode } from './body-errors.ts';
import { type ByteWriter, putU32, reserve, u32Length } from './byte-writer.ts';
import { invalidModule } from './errors.ts';
import { finishBody, patchSize } from './finish-body.ts';
import { putHookCall } from './frame.ts';
import { canGrow } from './layout.ts';
import { Form, Op, oneByteForms, prefixedForms, prefixedTableSize } from './opcodes.ts';
import { peekU32, skipBlockType, skipLeb, skipLocals, skipMemArg, skipValueType } from './skip.ts';

/** More than everything that one change of the code adds: prologue and epilogue, or a tail call of an import. */
const slackBytes = 128;

// The engine compiles a switch over constants of this module to a jump; over properties of an imported object it does not.
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
} = Form;

/**
 * Appends one rewritten body with its size, in one pass: runs of bytes between changed instructions are copied in one go,
 * and nothing is allocated per instruction. The only nesting that is kept is its depth.
 *
 * Returns false if the layout assumed something that the body contradicts; then `context.findings` say what, and nothing
 * that was written is of use.
 */
export function rewriteBody(
  context: BodyContext,
  functionIndex: number,
  start: number,
  end: number,
  isTraced: boolean,
): boolean {
  const { module, layout, findings, writer } = context;
  const { importCount, functionCount, shift, callTargets, enterIndex, exitIndex } = layout;
  const source = module.bytes;
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
    if (form === Prefix) {
      const prefix = source[opAt] as number;
      const opcode = peekU32(source, pos, end, functionIndex);
      pos = skipLeb(source, pos, 5, functionIndex);
      form = opcode < prefixedTableSize ? (prefixedForms[(prefix - 0xfb) * prefixedTableSize + opcode] as number) : 0;
    }
    switch (form) {
      case None:
        break;
      case Leb32:
        if (!((source[pos++] as number) < 0x80)) pos = skipLeb(source, pos - 1, 5, functionIndex);
        break;
      case MemArg:
        pos = skipMemArg(source, pos, functionIndex);
        break;
      case Block:
        pos = skipBlockType(source, pos, functionIndex);
        depth++;
        break;
      case End:
        if (depth-- > 0) break;
        if (pos !== end) throw invalidModule('Expected the end of the body after its last end', pos, functionIndex);
        if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
        at = copyRun(out, at, source, copied, opAt);
        at = finishBody(context, out, at, codeAt, functionIndex, isTraced, canThrow, leavesEarly);
        writer.length = patchSize(out, sizeAt, sizeLength, at);
        return true;
      case Branch: {
        const label = peekU32(source, pos, end, functionIndex);
        if (label >= depth) leavesEarly = checkLabel(label, depth, pos, functionIndex);
        pos = skipLeb(source, pos, 5, functionIndex);
        break;
      }
      case Call:
      case RefFunc: {
        const index = peekU32(source, pos, end, functionIndex);
        if (index >= functionCount) throw noSuchFunction(index, pos, functionIndex);
        const target = index < importCount ? (callTargets[index] as number) : index + shift;
        if (form === Call) canThrow = true;
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
      case CallIndirect:
        canThrow = true;
        pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
        break;
      case CallRef:
      case Throw:
        canThrow = true;
        pos = skipLeb(source, pos, 5, functionIndex);
        break;
      case Return:
        if (!isTraced) break;
        leavesEarly = true;
        if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
        at = copyRun(out, at, source, copied, opAt);
        out[at++] = Op.br;
        at = putU32(out, at, depth);
        copied = pos;
        break;
      case BranchTable: {
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
      case BranchOnCast: {
        const label = peekU32(source, pos + 1, end, functionIndex);
        if (label >= depth) leavesEarly = checkLabel(label, depth, pos + 1, functionIndex);
        pos = skipLeb(source, pos + 1, 5, functionIndex);
        pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
        break;
      }
      case ReturnCall: {
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
      case ReturnCallRef:
      case ReturnCallIndirect:
        if (isTraced) {
          if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
          at = copyRun(out, at, source, copied, opAt);
          at = putHookCall(out, at, outputIndex, exitIndex);
          copied = opAt;
        }
        pos = skipLeb(source, pos, 5, functionIndex);
        if (form === ReturnCallIndirect) pos = skipLeb(source, pos, 5, functionIndex);
        break;
      case MemoryGrow: {
        const index = peekU32(source, pos, end, functionIndex);
        const memory = module.memories[index];
        if (memory === undefined) throw invalidModule(`Found memory.grow of memory ${index}`, pos, functionIndex);
        pos = skipLeb(source, pos, 5, functionIndex);
        if (!canGrow(memory)) break;
        const helper = growHelperOf(context, index);
        if (at + (opAt - copied) + slackBytes > out.length) out = growTo(writer, at, opAt - copied);
        at = copyRun(out, at, source, copied, opAt);
        out[at++] = Op.call;
        at = putU32(out, at, helper);
        copied = pos;
        break;
      }
      case Try:
        if (!agreesWith(context, 'legacy', opAt, functionIndex)) return false;
        pos = skipBlockType(source, pos, functionIndex);
        depth++;
        break;
      case Delegate:
        if (!agreesWith(context, 'legacy', opAt, functionIndex)) return false;
        if (depth === 0) throw invalidModule('Expected a try for this delegate', opAt, functionIndex);
        depth--;
        checkLabelExists(peekU32(source, pos, end, functionIndex), depth, pos, functionIndex);
        pos = skipLeb(source, pos, 5, functionIndex);
        break;
      case Rethrow:
        if (!agreesWith(context, 'legacy', opAt, functionIndex)) return false;
        canThrow = true;
        pos = skipLeb(source, pos, 5, functionIndex);
        break;
      case ThrowRef:
        if (!agreesWith(context, 'exnref', opAt, functionIndex)) return false;
        canThrow = true;
        break;
      case TryTable: {
        if (!agreesWith(context, 'exnref', opAt, functionIndex)) return false;
        pos = skipBlockType(source, pos, functionIndex);
        const count = peekU32(source, pos, end, functionIndex);
        if (count >= end - pos) throw invalidModule(`Expected catches, found a count of ${count}`, pos, functionIndex);
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
      case TwoLeb32:
        pos = skipLeb(source, skipLeb(source, pos, 5, functionIndex), 5, functionIndex);
        break;
      case Leb64:
        pos = skipLeb(source, pos, 10, functionIndex);
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
  }
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
