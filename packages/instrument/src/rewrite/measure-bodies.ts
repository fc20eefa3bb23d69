import type { Module } from '../binary/module.ts';
import { Op } from '../binary/opcodes.ts';
import { peekU32, skipLeb } from '../binary/skip.ts';
import { u32Length } from '../binary/writer.ts';
import { limitExceeded } from '../errors.ts';
import { maxFunctionBodyBytes } from '../limits.ts';
import { BodyTrait, type CodeScan } from '../scan/cursor.ts';
import { nextPatchSite, type PatchSiteReader, readDepth, readPatchSites } from '../scan/patch-sites.ts';
import { type ExitGuard, guardEpilogueLength, guardPrologueLength, hookCallLength } from './exit-guard.ts';
import { callIndex, definitionIndex, type Layout, referenceIndex } from './layout.ts';
import type { TypePool } from './type-pool.ts';

const { memoryGrow, refFunc, return: returnOp, returnCall, returnCallIndirect, returnCallRef } = Op;

/** What the measuring and the writing of bodies go by. */
export interface BodyContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly scan: CodeScan;
}

/** How large the bodies become. */
export interface Measures {
  /** The size of each body in the output, without the number that says it. */
  readonly bodyBytes: Uint32Array;
  /** Of all bodies with the numbers in front of them. */
  readonly totalBytes: number;
  /** Blocks put around each body, by which the indices of its labels shift. */
  readonly addedLabels: Uint8Array;
  /** Functions that are not traced because their body would pass an engine's limit. */
  readonly leftUntraced: readonly number[];
}

/** What has to be put around a body so that `exit` is called on every way out of it. */
export function exitGuardOf({ layout, scan }: BodyContext, body: number): ExitGuard {
  if (layout.traced[layout.importCount + body] !== 1) return 'none';
  const traits = scan.traits[body] as number;
  if ((traits & BodyTrait.canThrow) !== 0 && layout.exceptionHandling !== 'none') return layout.exceptionHandling;
  return (traits & BodyTrait.leavesEarly) !== 0 ? 'block' : 'bare';
}

/** The block type of a guard; a bare one has no block, and must not have a type added for one. */
export function blockTypeOf(types: TypePool, guard: ExitGuard, typeIndex: number): Uint8Array {
  return guard === 'none' || guard === 'bare' ? noBlockType : types.blockTypeOf(typeIndex);
}

const noBlockType = new Uint8Array();

/**
 * Measures what each body becomes, so that all of them can be written where they belong, into a buffer of the right size.
 * Adds the types of their frames to the pool.
 */
export function measureBodies(context: BodyContext): Measures {
  const { bounds, traits, partitions } = context.scan;
  const { importCount } = context.layout;
  const measures = { bodyBytes: new Uint32Array(traits.length), addedLabels: new Uint8Array(traits.length) };
  const leftUntraced: number[] = [];
  let totalBytes = 0;
  for (const { firstBody, lastBody, patchSites } of partitions) {
    const reader = readPatchSites(patchSites, bounds[2 * firstBody] ?? 0);
    for (let body = firstBody; body < lastBody; body++) {
      const functionIndex = importCount + body;
      let guard = exitGuardOf(context, body);
      const { at, next } = reader;
      let size = measureBody(context, body, guard, reader);
      if (size > maxFunctionBodyBytes && guard !== 'none') {
        leftUntraced.push(functionIndex);
        guard = 'none';
        reader.at = at;
        reader.next = next;
        size = measureBody(context, body, guard, reader);
      }
      const inputSize = (bounds[2 * body + 1] as number) - (bounds[2 * body] as number);
      if (size > maxFunctionBodyBytes && inputSize <= maxFunctionBodyBytes) {
        throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, bounds[2 * body] as number);
      }
      measures.bodyBytes[body] = size;
      measures.addedLabels[body] = guard === 'exnref' ? 2 : guard === 'block' || guard === 'legacy' ? 1 : 0;
      totalBytes += u32Length(size) + size;
    }
  }
  return { ...measures, totalBytes, leftUntraced };
}

/** Moves `sites` behind the body. */
function measureBody(context: BodyContext, body: number, guard: ExitGuard, patchSites: PatchSiteReader): number {
  const { layout, scan } = context;
  const outputIndex = layout.importCount + body + layout.shift;
  const end = scan.bounds[2 * body + 1] as number;
  const exitBytes = guard === 'none' ? 0 : hookCallLength(outputIndex, layout.exitIndex);
  // The body's own `end` is part of the epilogue.
  let size = end - (scan.bounds[2 * body] as number) + guardEpilogueLength(guard, exitBytes) - 1;
  size += prologueLength(context, body, guard);
  while (patchSites.next < end) size += passSite(context, body, exitBytes, patchSites);
  return size;
}

/** Bytes that are put before the first instruction of a body. */
export function prologueLength({ module, layout, types }: BodyContext, body: number, guard: ExitGuard): number {
  if (guard === 'none') return 0;
  const functionIndex = layout.importCount + body;
  const blockType = blockTypeOf(types, guard, module.functionTypes[functionIndex] as number);
  return hookCallLength(functionIndex + layout.shift, layout.enterIndex) + guardPrologueLength(guard, blockType);
}

/**
 * Moves on to the next site, and returns by how many bytes this one grows. `exitBytes` is the length of a call of `exit`, 0 in
 * a function that is not traced.
 */
export function passSite(
  { module, layout, scan }: BodyContext,
  body: number,
  exitBytes: number,
  patchSites: PatchSiteReader,
): number {
  const source = module.bytes;
  const site = patchSites.next;
  const op = source[site] as number;
  let growth = 0;
  if (op === returnOp) {
    const depth = readDepth(patchSites);
    if (exitBytes > 0) growth = u32Length(depth);
  } else {
    const isTailCall = op === returnCall || op === returnCallIndirect || op === returnCallRef;
    if (isTailCall) growth = exitBytes;
    if (!isTailCall || op === returnCall) {
      const functionIndex = layout.importCount + body;
      const index = peekU32(source, site + 1, scan.bounds[2 * body + 1] as number, functionIndex);
      const operandBytes = skipLeb(source, site + 1, 5, functionIndex) - site - 1;
      growth += u32Length(operandOf(layout, op, index)) - operandBytes;
      if (op === returnCall && isTracedImport(layout, index)) growth += tracedTailCallLength(layout, index);
    }
  }
  nextPatchSite(patchSites);
  return growth;
}

/** The index that takes the place of the one in a `call`, `ref.func`, `return_call` or `memory.grow`. */
export function operandOf(layout: Layout, op: number, index: number): number {
  if (op === memoryGrow) return layout.growHelpers[index] as number;
  if (op === refFunc) return referenceIndex(layout, index);
  return op === returnCall ? definitionIndex(layout, index) : callIndex(layout, index);
}

/** A wrapper would keep its guard while the import runs, but the depth of a tail call must not grow: it does without one. */
export function isTracedImport(layout: Layout, index: number): boolean {
  return index < layout.importCount && layout.traced[index] === 1;
}

function tracedTailCallLength({ enterIndex, exitIndex }: Layout, index: number): number {
  return hookCallLength(index, enterIndex) + hookCallLength(index, exitIndex);
}
