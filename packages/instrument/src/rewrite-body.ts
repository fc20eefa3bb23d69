import { type ByteWriter, putU32, reserve, u32Length } from './byte-writer.ts';
import { BodyTrait } from './code-cursor.ts';
import { type Frame, framePrologueLength, putFrameEpilogue, putFramePrologue, putHookCall } from './frame.ts';
import type { Layout } from './layout.ts';
import type { Module } from './module.ts';
import { Op } from './opcodes.ts';
import { nextSite, readDepth, type SiteReader } from './site-list.ts';
import { peekU32, skipLeb, skipLocals } from './skip.ts';
import type { TypePool } from './type-pool.ts';

/** More than everything that one change of the code adds: prologue and epilogue, or a tail call of an import. */
const slackBytes = 128;

/** What the rewriting of bodies reads and writes. */
export interface BodyContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly writer: ByteWriter;
}

/** One body of the input. */
export interface Body {
  readonly functionIndex: number;
  /** After its size. */
  readonly start: number;
  readonly end: number;
  /** {@link BodyTrait}s. */
  readonly traits: number;
}

/** What has to be put around a body so that `exit` is called on every way out of it. */
export function frameOf({ handlers }: Layout, traits: number): Frame {
  if ((traits & BodyTrait.canThrow) !== 0 && handlers !== 'none') return handlers;
  return (traits & BodyTrait.leavesEarly) !== 0 ? 'block' : 'bare';
}

/**
 * Appends a body with its size: runs of bytes between the sites are copied, each site is written anew. The sites are those of
 * the scan, which has checked them; `sites` stands at the body's first one, and in the end behind its last one.
 */
export function rewriteBody(
  context: BodyContext,
  body: Body,
  frame: Frame,
  isTraced: boolean,
  sites: SiteReader,
): void {
  const { module, layout, types, writer } = context;
  const { functionIndex, start, end } = body;
  const { importCount, shift, callTargets, enterIndex, exitIndex } = layout;
  const source = module.bytes;
  const outputIndex = functionIndex + shift;
  const blockType =
    isTraced && frame !== 'bare' ? types.blockTypeOf(module.functionTypes[functionIndex] as number) : none;
  reserve(writer, end - start + slackBytes);
  let out = writer.bytes;
  const sizeAt = writer.length;
  const sizeLength = u32Length(end - start + (isTraced ? expectedGrowth(frame, blockType) : 0));
  let copied = skipLocals(source, start, end, functionIndex);
  let at = copyRun(out, sizeAt + sizeLength, source, start, copied);
  if (isTraced) {
    at = putHookCall(out, at, outputIndex, enterIndex);
    at = putFramePrologue(out, at, frame, blockType);
  }

  for (let site = sites.next; site < end; site = sites.next) {
    if (at + (site - copied) + slackBytes > out.length) out = growTo(writer, at, site - copied);
    at = copyRun(out, at, source, copied, site);
    const op = source[site] as number;
    copied = site;
    if (op === Op.call || op === Op.refFunc) {
      const index = peekU32(source, site + 1, end, functionIndex);
      out[at++] = op;
      at = putU32(out, at, index < importCount ? (callTargets[index] as number) : index + shift);
      copied = skipLeb(source, site + 1, 5, functionIndex);
    } else if (op === Op.return) {
      const depth = readDepth(sites);
      if (isTraced) {
        out[at++] = Op.br;
        at = putU32(out, at, depth);
        copied = site + 1;
      }
    } else if (op === Op.memoryGrow) {
      out[at++] = Op.call;
      at = putU32(out, at, layout.growHelpers[peekU32(source, site + 1, end, functionIndex)] as number);
      copied = skipLeb(source, site + 1, 5, functionIndex);
    } else {
      if (isTraced) at = putHookCall(out, at, outputIndex, exitIndex);
      if (op === Op.returnCall) {
        at = putTailCall(out, at, layout, peekU32(source, site + 1, end, functionIndex));
        copied = skipLeb(source, site + 1, 5, functionIndex);
      }
    }
    nextSite(sites);
  }

  // The body's own `end` is the epilogue's.
  if (at + (end - copied) + slackBytes > out.length) out = growTo(writer, at, end - copied);
  at = copyRun(out, at, source, copied, end - 1);
  if (isTraced) at = putFrameEpilogue(out, at, frame, (to) => putHookCall(out, to, outputIndex, exitIndex));
  else out[at++] = Op.end;
  writer.length = patchSize(out, sizeAt, sizeLength, at);
}

const none = new Uint8Array();

function expectedGrowth(frame: Frame, blockType: Uint8Array): number {
  const hookCallBytes = 5;
  return framePrologueLength(frame, blockType) + (frame === 'bare' || frame === 'block' ? 2 : 3) * hookCallBytes;
}

/** A wrapper would keep its frame while the import runs; the depth of a tail call must not grow. */
function putTailCall(out: Uint8Array, start: number, layout: Layout, index: number): number {
  let at = start;
  const isImport = index < layout.importCount;
  if (isImport && layout.traced[index] === 1) {
    at = putHookCall(out, at, index, layout.enterIndex);
    at = putHookCall(out, at, index, layout.exitIndex);
  }
  out[at++] = Op.returnCall;
  return putU32(out, at, isImport ? index : index + layout.shift);
}

/** Copies `source[from .. to)` to `out[at ..)` and returns the offset after it. A loop beats a call for short runs. */
function copyRun(out: Uint8Array, at: number, source: Uint8Array, from: number, to: number): number {
  if (to - from > 128) {
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

/** Writes the body's size in front of it, moving it where the size takes another number of bytes than was expected. */
function patchSize(out: Uint8Array, sizeAt: number, expectedLength: number, end: number): number {
  const size = end - sizeAt - expectedLength;
  const length = u32Length(size);
  if (length !== expectedLength) out.copyWithin(sizeAt + length, sizeAt + expectedLength, end);
  putU32(out, sizeAt, size);
  return end + length - expectedLength;
}
