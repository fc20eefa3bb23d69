import { i32Op, Op } from '../binary/opcodes.ts';
import { exnrefType } from '../binary/types.ts';
import { putS32, putU32, s32Length, u32Length } from '../binary/writer.ts';

/**
 * The prologue and epilogue of a body that make every exit path call `exit`. A branch to the function's label, and a
 * `return` (rewritten to such a branch), reach the end of the guard. No guard changes a label index inside it.
 *
 *     bare     block          legacy (try)       exnref (try_table)
 *
 *              block          try                block (result exnref)
 *                                                  try_table (catch_all_ref 0)
 *     body       body           body                 body
 *              end            catch_all            end
 *                               exit               exit
 *                               rethrow 0          return
 *                             end                end
 *     exit     exit           exit               exit
 *                                                throw_ref
 *     end      end            end                end
 *
 * `none` is the guard of an untraced function: only its `end`.
 */
export type ExitGuard = 'none' | 'bare' | 'block' | 'legacy' | 'exnref';

const exnrefBlock = [Op.block, exnrefType];
const oneCatchAllRef = [0x01, 0x03, 0x00];

export function guardPrologueLength(guard: ExitGuard, blockType: Uint8Array): number {
  if (guard === 'none' || guard === 'bare') return 0;
  return blockType.length + (guard === 'exnref' ? 6 : 1);
}

/** Writes the prologue, and returns the offset after it. `out` must have room for it. */
export function putGuardPrologue(out: Uint8Array, start: number, guard: ExitGuard, blockType: Uint8Array): number {
  if (guard === 'none' || guard === 'bare') return start;
  let at = start;
  if (guard === 'exnref') {
    out.set(exnrefBlock, at);
    at += exnrefBlock.length;
  }
  out[at++] = guard === 'exnref' ? Op.tryTable : guard === 'legacy' ? Op.try : Op.block;
  out.set(blockType, at);
  at += blockType.length;
  if (guard === 'exnref') {
    out.set(oneCatchAllRef, at);
    at += oneCatchAllRef.length;
  }
  return at;
}

/** The length of the epilogue, if each exit path takes `exitBytes`. */
export function guardEpilogueLength(guard: ExitGuard, exitBytes: number): number {
  if (guard === 'none') return 1;
  if (guard === 'bare') return exitBytes + 1;
  return guard === 'block' ? exitBytes + 2 : 2 * exitBytes + 5;
}

/** Writes the epilogue, including the function's `end`. `putExit` writes the code of an exit path. */
export function putGuardEpilogue(
  out: Uint8Array,
  start: number,
  guard: ExitGuard,
  putExit: (at: number) => number,
): number {
  let at = start;
  if (guard === 'none') {
    out[at++] = Op.end;
    return at;
  }
  if (guard === 'legacy') {
    out[at++] = Op.catchAll;
    at = putExit(at);
    out[at++] = Op.rethrow;
    out[at++] = 0;
  }
  if (guard !== 'bare') out[at++] = Op.end;
  if (guard === 'exnref') {
    at = putExit(at);
    out[at++] = Op.return;
    out[at++] = Op.end;
  }
  at = putExit(at);
  if (guard === 'exnref') out[at++] = Op.throwRef;
  out[at++] = Op.end;
  return at;
}

/** Writes `i32.const index; call hook`: at most 12 bytes, which leave the operand stack as it is. */
export function putHookCall(out: Uint8Array, start: number, index: number, hook: number): number {
  out[start] = i32Op.const;
  const at = putS32(out, start + 1, index);
  out[at] = Op.call;
  return putU32(out, at + 1, hook);
}

/** The length of the code that {@link putHookCall} writes. */
export function hookCallLength(index: number, hook: number): number {
  return 2 + s32Length(index) + u32Length(hook);
}
