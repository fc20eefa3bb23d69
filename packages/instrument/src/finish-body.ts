import type { BodyContext } from './body-context.ts';
import { putU32, u32Length } from './byte-writer.ts';
import { framePrologueLength, putFrameEpilogue, putFramePrologue, putHookCall } from './frame.ts';
import { Op } from './opcodes.ts';

/** Puts around the code what keeps `exit` in step; a function that only falls off its end needs no block. */
export function finishBody(
  { module, layout, types, findings }: BodyContext,
  out: Uint8Array,
  end: number,
  codeAt: number,
  functionIndex: number,
  isTraced: boolean,
  canThrow: boolean,
  leavesEarly: boolean,
): number {
  let at = end;
  if (!isTraced) {
    out[at++] = Op.end;
    return at;
  }
  const { handlers, shift, exitIndex, importCount } = layout;
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

/** Writes the body's size in front of it, moving it where the size takes another number of bytes than was guessed. */
export function patchSize(out: Uint8Array, sizeAt: number, guessedLength: number, end: number): number {
  const size = end - sizeAt - guessedLength;
  const length = u32Length(size);
  if (length !== guessedLength) out.copyWithin(sizeAt + length, sizeAt + guessedLength, end);
  putU32(out, sizeAt, size);
  return end + length - guessedLength;
}
