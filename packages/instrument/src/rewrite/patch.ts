import { Op } from '../binary/opcodes.ts';
import { putU32, u32Length } from '../binary/writer.ts';
import { nextPatchSite, type PatchSiteReader, readDepth } from '../scan/patch-sites.ts';
import type { BodyContext } from './body-context.ts';
import { hookCallLength, putHookCall } from './exit-guard.ts';
import { putTailExit, tailExitLength } from './hook-code.ts';
import { callIndex, exportIndex, type Layout, referenceIndex } from './layout.ts';
import { type Probes, probeLength, putProbe } from './probes.ts';

const { br, call, memoryGrow, refFunc, return: returnOp, returnCall } = Op;

/** What a patch site becomes: calls of hooks, then the instruction with a new opcode and operand. */
export interface Patch {
  /** The probe that is inserted, and nothing else; -1 without. */
  probe: number;
  body: number;
  /** The traced function that a tail call leaves, which calls `exit` first; -1 without. */
  exited: number;
  /** The traced import that a tail call calls, between `enter` and `exit`; -1 without. */
  tailCalled: number;
  /** The input bytes that are replaced. None where the instruction stays as it is. */
  start: number;
  end: number;
  opcode: number;
  operand: number;
}

/** One patch is reused for all sites: an object for each of them would cost more than the rest. */
export function createPatch(): Patch {
  return { probe: -1, body: 0, exited: -1, tailCalled: -1, start: 0, end: 0, opcode: 0, operand: 0 };
}

/**
 * Decides what the next patch site becomes, and moves on to the one after it. Both measuring and writing use the result.
 */
export function nextPatch(
  { module, layout }: BodyContext,
  body: number,
  isTraced: boolean,
  patchSites: PatchSiteReader,
  patch: Patch,
): void {
  const source = module.bytes;
  const site = patchSites.next;
  patch.probe = -1;
  patch.exited = -1;
  patch.tailCalled = -1;
  patch.start = site;
  patch.end = site;
  if (patchSites.probe !== -1) {
    patch.probe = patchSites.probe;
    patch.body = body;
    patchSites.probe = -1;
    nextPatchSite(patchSites);
    return;
  }
  patch.opcode = source[site] as number;
  switch (patch.opcode) {
    case call:
      patch.operand = callIndex(layout, readOperand(source, patch));
      break;
    case refFunc:
      patch.operand = referenceIndex(layout, readOperand(source, patch));
      break;
    case memoryGrow: {
      const helper = layout.growHelpers[readOperand(source, patch)];
      if (helper === undefined) patch.end = site;
      patch.opcode = call;
      patch.operand = helper ?? 0;
      break;
    }
    case returnOp: {
      const depth = readDepth(patchSites);
      if (!isTraced) break;
      patch.end = site + 1;
      patch.opcode = br;
      patch.operand = depth;
      break;
    }
    case returnCall: {
      if (isTraced) patch.exited = layout.importCount + body + layout.shift;
      const index = readOperand(source, patch);
      if (isTracedImport(layout, index)) patch.tailCalled = index;
      patch.operand = exportIndex(layout, index);
      break;
    }
    default: // return_call_indirect, return_call_ref
      if (isTraced) patch.exited = layout.importCount + body + layout.shift;
  }
  nextPatchSite(patchSites);
}

/** Reads the index behind the opcode, a LEB128 that the scan has checked, which the patch replaces. */
function readOperand(source: Uint8Array, patch: Patch): number {
  let at = patch.start + 1;
  let index = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = source[at++] as number;
    index |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  patch.end = at;
  return index;
}

/** A tail call must not deepen the stack, so it reaches a traced import without the wrapper, whose frame would remain. */
function isTracedImport(layout: Layout, index: number): boolean {
  return index < layout.importCount && layout.traced[index] === 1;
}

/** How many bytes longer a patch is than the input that it replaces. */
export function patchSizeDelta(layout: Layout, patch: Patch): number {
  const { start, end, operand } = patch;
  const replaced = end === start ? 0 : 1 + u32Length(operand) - (end - start);
  return insertedLength(layout, patch) + replaced;
}

/** Bytes that a patch adds before the instruction. */
export function insertedLength(layout: Layout, patch: Patch): number {
  const { exited, tailCalled } = patch;
  if (patch.probe !== -1) return probeLength(layout.probes as Probes, patch.body, patch.probe);
  const { enterIndex, exitIndex } = layout;
  let length = 0;
  if (exited !== -1) length += tailExitLength(layout, exited);
  if (tailCalled !== -1) length += hookCallLength(tailCalled, enterIndex) + hookCallLength(tailCalled, exitIndex);
  return length;
}

/** Writes a patch and returns the offset after it. */
export function putPatch(out: Uint8Array, offset: number, layout: Layout, patch: Patch): number {
  if (patch.probe !== -1) return putProbe(out, offset, layout.probes as Probes, patch.body, patch.probe);
  const { exited, tailCalled } = patch;
  const { enterIndex, exitIndex } = layout;
  let at = offset;
  if (exited !== -1) at = putTailExit(out, at, layout, exited);
  if (tailCalled !== -1) {
    at = putHookCall(out, at, tailCalled, enterIndex);
    at = putHookCall(out, at, tailCalled, exitIndex);
  }
  if (patch.end === patch.start) return at;
  out[at++] = patch.opcode;
  return putU32(out, at, patch.operand);
}
