import { readLocals } from '../binary/code.ts';
import { viewOf } from '../binary/reader.ts';
import { putU32 } from '../binary/writer.ts';
import { type PatchSiteReader, readPatchSites } from '../scan/patch-sites.ts';
import { type BodyContext, blockTypeOf, exitGuardOf } from './body-context.ts';
import { putGuardEpilogue, putGuardPrologue } from './exit-guard.ts';
import { addedLocals, localRun, putEnter, putExit, putRunCount } from './hook-code.ts';
import type { Measures } from './measure-bodies.ts';
import { createPatch, nextPatch, type Patch, putPatch } from './patch.ts';

/** Where the bodies are copied from and to, with a view of each. */
interface BodyBuffers {
  readonly source: Uint8Array;
  readonly sourceView: DataView;
  readonly out: Uint8Array;
  readonly outView: DataView;
}

/** Writes all bodies with their sizes into `out` at `start`, `measures.totalBytes` in all. */
export function writeBodies(context: BodyContext, measures: Measures, out: Uint8Array, start: number): void {
  const { module, scan } = context;
  const { bounds, partitions } = scan;
  const buffers: BodyBuffers = { source: module.bytes, sourceView: viewOf(module.bytes), out, outView: viewOf(out) };
  const patch = createPatch();
  let at = start;
  for (const { firstBody, lastBody, patchSites } of partitions) {
    const reader = readPatchSites(patchSites);
    for (let body = firstBody; body < lastBody; body++) {
      at = putU32(out, at, measures.bodyBytes[body] as number);
      at = writeBody(context, buffers, body, at, reader, patch);
      scan.advance((bounds[2 * body + 1] as number) - (bounds[2 * body] as number));
    }
  }
}

/**
 * Writes a body without its size at `start`, and returns the offset after it: copies the bytes between the patch sites, and
 * writes a patch for each site. `patchSites` stands at the body's first site, and ends behind its last one. The code must
 * not be the last section in `out`: up to three bytes behind the body are overwritten too.
 */
function writeBody(
  context: BodyContext,
  buffers: BodyBuffers,
  body: number,
  start: number,
  patchSites: PatchSiteReader,
  patch: Patch,
): number {
  const { layout, types, module, scan } = context;
  const { source, out } = buffers;
  const functionIndex = layout.importCount + body;
  const outputIndex = functionIndex + layout.shift;
  const bodyStart = scan.bounds[2 * body] as number;
  const end = scan.bounds[2 * body + 1] as number;
  const guard = exitGuardOf(context, body);
  const isTraced = guard !== 'none';
  let copied = readLocals(source, bodyStart, end, functionIndex);
  let at = start;
  if (isTraced && addedLocals(layout, outputIndex) === 1) {
    const count = putRunCount(out, at, source, bodyStart);
    at = copyRun(buffers, count.at, count.copied, copied);
    for (const byte of localRun) out[at++] = byte;
  } else {
    at = copyRun(buffers, at, bodyStart, copied);
  }
  if (isTraced) {
    at = putEnter(out, at, layout, outputIndex);
    at = putGuardPrologue(out, at, guard, blockTypeOf(types, guard, module.functionTypes[functionIndex] as number));
  }
  while (patchSites.next < end) {
    nextPatch(context, body, isTraced, patchSites, patch);
    at = copyRun(buffers, at, copied, patch.start);
    at = putPatch(out, at, layout, patch);
    copied = patch.end;
  }
  // The body's own `end` is part of the epilogue.
  at = copyRun(buffers, at, copied, end - 1);
  return putGuardEpilogue(out, at, guard, (to) => putExit(out, to, layout, outputIndex));
}

/** From this length on `set()` is faster than a loop. */
const longRunBytes = 256;

/**
 * Copies `source[from .. to)` to `out[start ..)`, and returns the offset after it. Most runs have about fifty bytes. Four
 * bytes are copied at a time. The next write covers up to three surplus bytes at the end.
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
