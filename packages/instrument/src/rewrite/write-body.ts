import { Op } from '../binary/opcodes.ts';
import { peekU32, skipLeb, skipLocals } from '../binary/skip.ts';
import { putU32 } from '../binary/writer.ts';
import { nextPatchSite, type PatchSiteReader, readDepth } from '../scan/patch-sites.ts';
import { type ExitGuard, putGuardEpilogue, putGuardPrologue, putHookCall } from './exit-guard.ts';
import { type BodyContext, blockTypeOf, isTracedImport, operandOf } from './measure-bodies.ts';

const { br, call, memoryGrow, return: returnOp, returnCall, returnCallIndirect, returnCallRef } = Op;

/** Where the bodies are copied from and to. Both views are of the bytes beside them. */
export interface BodyBuffers {
  readonly source: Uint8Array;
  readonly sourceView: DataView;
  readonly out: Uint8Array;
  readonly outView: DataView;
}

/**
 * Writes a body, without its size, at `start` and returns the offset after it: runs of bytes between the sites are copied,
 * each site is written anew. The scan has checked the sites; `sites` stands at the body's first one, and in the end behind
 * its last one. The code must not be the last thing in `out`: up to three bytes behind the body are written too.
 */
export function rewriteBody(
  { layout, types, module, scan }: BodyContext,
  buffers: BodyBuffers,
  body: number,
  guard: ExitGuard,
  start: number,
  patchSites: PatchSiteReader,
): number {
  const { source, out } = buffers;
  const { enterIndex, exitIndex } = layout;
  const functionIndex = layout.importCount + body;
  const outputIndex = functionIndex + layout.shift;
  const bodyStart = scan.bounds[2 * body] as number;
  const end = scan.bounds[2 * body + 1] as number;
  const isTraced = guard !== 'none';
  let copied = skipLocals(source, bodyStart, end, functionIndex);
  let at = copyRun(buffers, start, bodyStart, copied);
  if (isTraced) {
    at = putHookCall(out, at, outputIndex, enterIndex);
    at = putGuardPrologue(out, at, guard, blockTypeOf(types, guard, module.functionTypes[functionIndex] as number));
  }
  for (let site = patchSites.next; site < end; site = patchSites.next) {
    at = copyRun(buffers, at, copied, site);
    copied = site;
    const op = source[site] as number;
    if (op === returnOp) {
      const depth = readDepth(patchSites);
      if (isTraced) {
        out[at++] = br;
        at = putU32(out, at, depth);
        copied = site + 1;
      }
    } else {
      const isTailCall = op === returnCall || op === returnCallIndirect || op === returnCallRef;
      if (isTailCall && isTraced) at = putHookCall(out, at, outputIndex, exitIndex);
      if (!isTailCall || op === returnCall) {
        const index = peekU32(source, site + 1, end, functionIndex);
        if (op === returnCall && isTracedImport(layout, index)) {
          at = putHookCall(out, at, index, enterIndex);
          at = putHookCall(out, at, index, exitIndex);
        }
        out[at++] = op === memoryGrow ? call : op;
        at = putU32(out, at, operandOf(layout, op, index));
        copied = skipLeb(source, site + 1, 5, functionIndex);
      }
    }
    nextPatchSite(patchSites);
  }
  // The body's own `end` is the epilogue's.
  at = copyRun(buffers, at, copied, end - 1);
  return putGuardEpilogue(out, at, guard, (to) => putHookCall(out, to, outputIndex, exitIndex));
}

/** From here on the engine's own copying is worth the call. */
const longRunBytes = 256;

/**
 * Copies `source[from .. to)` to `out[start ..)` and returns the offset after it. A run is some fifty bytes as a rule. Four
 * are copied at a time, the last ones with up to three that what comes next is written over.
 */
function copyRun({ source, sourceView, out, outView }: BodyBuffers, start: number, from: number, to: number): number {
  const end = start + to - from;
  if (to - from >= longRunBytes || to + 4 > source.length) {
    out.set(source.subarray(from, to), start);
    return end;
  }
  let pos = from;
  for (let at = start; at < end; at += 4, pos += 4) outView.setInt32(at, sourceView.getInt32(pos, true), true);
  return end;
}
