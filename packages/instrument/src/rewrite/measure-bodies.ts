import { u32Length } from '../binary/writer.ts';
import { limitExceeded } from '../errors.ts';
import { maxFunctionBodyBytes } from '../limits.ts';
import { type PatchSiteReader, readPatchSites } from '../scan/patch-sites.ts';
import { type BodyContext, exitGuardOf, prologueLength } from './body-context.ts';
import { type ExitGuard, guardEpilogueLength } from './exit-guard.ts';
import { addedLocals, exitLength } from './hook-code.ts';
import { createPatch, nextPatch, type Patch, patchSizeDelta } from './patch.ts';
import { isCounted } from './probes.ts';

/** The sizes of the output's function bodies. */
export interface Measures {
  /** The size of each body, without its size field. */
  readonly bodyBytes: Uint32Array;
  /** The sum over all bodies, with their size fields. */
  readonly totalBytes: number;
  /** Blocks that the exit guard adds to each body, by which label indices shift. */
  readonly addedLabels: Uint8Array;
  /** Functions that are not traced because their body would pass an engine's limit. */
  readonly leftUntraced: readonly number[];
  /** Functions whose blocks are not counted, for the same reason. */
  readonly leftUncounted: readonly number[];
}

/**
 * Measures each body, so that all bodies can be written in place, into a buffer of the right size.
 * Adds the block types of exit guards to the pool.
 */
export function measureBodies(context: BodyContext): Measures {
  const { bounds, traits, partitions } = context.scan;
  const { importCount } = context.layout;
  const measures = { bodyBytes: new Uint32Array(traits.length), addedLabels: new Uint8Array(traits.length) };
  const leftUntraced: number[] = [];
  const leftUncounted: number[] = [];
  const { probes } = context.layout;
  const patch = createPatch();
  let totalBytes = 0;
  for (const { firstBody, lastBody, patchSites } of partitions) {
    const reader = readPatchSites(patchSites);
    for (let body = firstBody; body < lastBody; body++) {
      const functionIndex = importCount + body;
      let guard = exitGuardOf(context, body);
      const { at, next, probe } = reader;
      let size = measureBody(context, body, guard, reader, patch);
      if (size > maxFunctionBodyBytes && guard !== 'none') {
        leftUntraced.push(functionIndex);
        guard = 'none';
        moveTo(reader, at, next, probe);
        size = measureBody(context, body, guard, reader, patch);
      }
      if (size > maxFunctionBodyBytes && probes !== undefined && isCounted(probes, body)) {
        leftUncounted.push(functionIndex);
        probes.uncounted[body] = 1;
        moveTo(reader, at, next, probe);
        size = measureBody(context, body, guard, reader, patch);
      }
      const inputSize = (bounds[2 * body + 1] as number) - (bounds[2 * body] as number);
      if (size > maxFunctionBodyBytes && inputSize <= maxFunctionBodyBytes) {
        throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, bounds[2 * body] as number);
      }
      measures.bodyBytes[body] = size;
      const skipBlocks = guard === 'none' ? 0 : addedLocals(context.layout, functionIndex + context.layout.shift);
      const guardBlocks = guard === 'exnref' ? 2 : guard === 'block' || guard === 'legacy' ? 1 : 0;
      measures.addedLabels[body] = skipBlocks + guardBlocks;
      totalBytes += u32Length(size) + size;
    }
  }
  return { ...measures, totalBytes, leftUntraced, leftUncounted };
}

function moveTo(reader: PatchSiteReader, at: number, next: number, probe: number): void {
  reader.at = at;
  reader.next = next;
  reader.probe = probe;
}

/** Moves `patchSites` to the next body. */
function measureBody(
  context: BodyContext,
  body: number,
  guard: ExitGuard,
  patchSites: PatchSiteReader,
  patch: Patch,
): number {
  const { layout, scan } = context;
  const outputIndex = layout.importCount + body + layout.shift;
  const end = scan.bounds[2 * body + 1] as number;
  const isTraced = guard !== 'none';
  const exitBytes = isTraced ? exitLength(layout, outputIndex) : 0;
  // The body's own `end` is part of the epilogue.
  let size = end - (scan.bounds[2 * body] as number) + guardEpilogueLength(guard, exitBytes) - 1;
  size += prologueLength(context, body, guard);
  while (patchSites.next < end) {
    nextPatch(context, body, isTraced, patchSites, patch);
    size += patchSizeDelta(layout, patch);
  }
  return size;
}
