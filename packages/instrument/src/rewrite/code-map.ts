import { readLocals } from '../binary/code.ts';
import { type PatchSiteReader, readPatchSites } from '../scan/patch-sites.ts';
import { type BodyContext, exitGuardOf, prologueLength } from './body-context.ts';
import { createPatch, nextPatch, patchSizeDelta } from './patch.ts';

/**
 * Maps the offset of an instruction in the input to its offset in the output, both from the start of the body. Returns
 * undefined for an offset outside of the body's code. Bodies, and offsets in a body, must ascend from call to call.
 */
export type CodeMap = (body: number, offset: number) => number | undefined;

export function createCodeMap(context: BodyContext): CodeMap {
  const { module, layout, scan } = context;
  const { bounds, partitions } = scan;
  const readers = partitions.map(({ patchSites }) => readPatchSites(patchSites));
  const patch = createPatch();
  let openBody = -1;
  let isTraced = false;
  let start = 0;
  let codeStart = 0;
  let end = 0;
  let sizeDelta = 0;

  /** Skips the patch sites up to an offset, and returns the sum of their size deltas. */
  function skipPatches(patchSites: PatchSiteReader, offset: number): number {
    let delta = 0;
    while (patchSites.next < offset) {
      nextPatch(context, openBody, isTraced, patchSites, patch);
      delta += patchSizeDelta(layout, patch);
    }
    return delta;
  }

  return (body, offset) => {
    const partition = partitions.findIndex(({ firstBody, lastBody }) => body >= firstBody && body < lastBody);
    const patchSites = readers[partition] as PatchSiteReader;
    if (body !== openBody) {
      openBody = body;
      start = bounds[2 * body] as number;
      end = bounds[2 * body + 1] as number;
      codeStart = readLocals(module.bytes, start, end, layout.importCount + body);
      const guard = exitGuardOf(context, body);
      isTraced = guard !== 'none';
      skipPatches(patchSites, start);
      sizeDelta = prologueLength(context, body, guard);
    }
    const inputOffset = start + offset;
    if (inputOffset < codeStart || inputOffset >= end) return undefined;
    sizeDelta += skipPatches(patchSites, inputOffset);
    return offset + sizeDelta;
  };
}
