import type { Module } from '../binary/module.ts';
import { Op } from '../binary/opcodes.ts';
import { peekU32, skipLeb } from '../binary/skip.ts';
import { u32Length } from '../binary/writer.ts';
import { limitExceeded } from '../errors.ts';
import { maxFunctionBodyBytes } from '../limits.ts';
import { BodyTrait, type CodeScan } from '../scan/cursor.ts';
import { nextSite, readDepth, readSites, type SiteReader } from '../scan/patch-sites.ts';
import { type Frame, frameEpilogueLength, framePrologueLength, hookCallLength } from './exit-guard.ts';
import { itself, type Layout, referenceOf, useOf } from './layout.ts';
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
export function frameOf({ layout, scan }: BodyContext, body: number): Frame {
  if (layout.traced[layout.importCount + body] !== 1) return 'none';
  const traits = scan.traits[body] as number;
  if ((traits & BodyTrait.canThrow) !== 0 && layout.handlers !== 'none') return layout.handlers;
  return (traits & BodyTrait.leavesEarly) !== 0 ? 'block' : 'bare';
}

/** The block type of a frame; a bare one has no block, and must not have a type added for one. */
export function blockTypeOf(types: TypePool, frame: Frame, typeIndex: number): Uint8Array {
  return frame === 'none' || frame === 'bare' ? noBlockType : types.blockTypeOf(typeIndex);
}

const noBlockType = new Uint8Array();

/**
 * Measures what each body becomes, so that all of them can be written where they belong, into a buffer of the right size.
 * Adds the types of their frames to the pool.
 */
export function measureBodies(context: BodyContext): Measures {
  const { bounds, traits, halves } = context.scan;
  const { importCount } = context.layout;
  const measures = { bodyBytes: new Uint32Array(traits.length), addedLabels: new Uint8Array(traits.length) };
  const leftUntraced: number[] = [];
  let totalBytes = 0;
  for (const { firstBody, lastBody, sites } of halves) {
    const reader = readSites(sites, bounds[2 * firstBody] ?? 0);
    for (let body = firstBody; body < lastBody; body++) {
      const functionIndex = importCount + body;
      let frame = frameOf(context, body);
      const { at, next } = reader;
      let size = measureBody(context, body, frame, reader);
      if (size > maxFunctionBodyBytes && frame !== 'none') {
        leftUntraced.push(functionIndex);
        frame = 'none';
        reader.at = at;
        reader.next = next;
        size = measureBody(context, body, frame, reader);
      }
      const inputSize = (bounds[2 * body + 1] as number) - (bounds[2 * body] as number);
      if (size > maxFunctionBodyBytes && inputSize <= maxFunctionBodyBytes) {
        throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, bounds[2 * body] as number);
      }
      measures.bodyBytes[body] = size;
      measures.addedLabels[body] = frame === 'exnref' ? 2 : frame === 'block' || frame === 'legacy' ? 1 : 0;
      totalBytes += u32Length(size) + size;
    }
  }
  return { ...measures, totalBytes, leftUntraced };
}

/** Moves `sites` behind the body. */
function measureBody(context: BodyContext, body: number, frame: Frame, sites: SiteReader): number {
  const { layout, scan } = context;
  const outputIndex = layout.importCount + body + layout.shift;
  const end = scan.bounds[2 * body + 1] as number;
  const exitBytes = frame === 'none' ? 0 : hookCallLength(outputIndex, layout.exitIndex);
  // The body's own `end` is part of the epilogue.
  let size = end - (scan.bounds[2 * body] as number) + frameEpilogueLength(frame, exitBytes) - 1;
  size += prologueLength(context, body, frame);
  while (sites.next < end) size += passSite(context, body, exitBytes, sites);
  return size;
}

/** Bytes that are put before the first instruction of a body. */
export function prologueLength({ module, layout, types }: BodyContext, body: number, frame: Frame): number {
  if (frame === 'none') return 0;
  const functionIndex = layout.importCount + body;
  const blockType = blockTypeOf(types, frame, module.functionTypes[functionIndex] as number);
  return hookCallLength(functionIndex + layout.shift, layout.enterIndex) + framePrologueLength(frame, blockType);
}

/**
 * Moves on to the next site, and returns by how many bytes this one grows. `exitBytes` is the length of a call of `exit`, 0 in
 * a function that is not traced.
 */
export function passSite(
  { module, layout, scan }: BodyContext,
  body: number,
  exitBytes: number,
  sites: SiteReader,
): number {
  const source = module.bytes;
  const site = sites.next;
  const op = source[site] as number;
  let growth = 0;
  if (op === returnOp) {
    const depth = readDepth(sites);
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
  nextSite(sites);
  return growth;
}

/** The index that takes the place of the one in a `call`, `ref.func`, `return_call` or `memory.grow`. */
export function operandOf(layout: Layout, op: number, index: number): number {
  if (op === memoryGrow) return layout.growHelpers[index] as number;
  if (op === refFunc) return referenceOf(layout, index);
  return op === returnCall ? itself(layout, index) : useOf(layout, index);
}

/** A wrapper would keep its frame while the import runs, but the depth of a tail call must not grow: it does without one. */
export function isTracedImport(layout: Layout, index: number): boolean {
  return index < layout.importCount && layout.traced[index] === 1;
}

function tracedTailCallLength({ enterIndex, exitIndex }: Layout, index: number): number {
  return hookCallLength(index, enterIndex) + hookCallLength(index, exitIndex);
}
