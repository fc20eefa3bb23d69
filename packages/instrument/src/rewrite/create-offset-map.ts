import { readLocals } from '../binary/code.ts';
import { SectionId, sectionReader } from '../binary/sections.ts';
import { u32Length } from '../binary/writer.ts';
import { type PatchSiteReader, readPatchSites } from '../scan/patch-sites.ts';
import { type BodyContext, exitGuardOf, prologueLength } from './body-context.ts';
import type { GeneratedFunction } from './instructions.ts';
import type { Measures } from './measure-bodies.ts';
import { addPoint, emptyOffsetMap, type OffsetMap } from './offset-map.ts';
import { createPatch, insertedLength, nextPatch, patchSizeDelta } from './patch.ts';

export interface OffsetMapContext extends BodyContext {
  readonly measures: Measures;
  readonly generated: readonly GeneratedFunction[];
}

/** Builds the map from the patch sites. */
export function createOffsetMap(context: OffsetMapContext): OffsetMap {
  const { module, layout, scan, measures, generated } = context;
  const { bounds, partitions } = scan;
  const base = sectionReader(module.bytes, module.sections, SectionId.code)?.offset ?? 0;
  const map = emptyOffsetMap(base, 0, 1024 + 2 * bounds.length);
  const patch = createPatch();
  const bodyCount = bounds.length / 2;
  let output = u32Length(bodyCount + generated.length);
  let bodyStart = u32Length(bodyCount);

  function addBody(body: number, patchSites: PatchSiteReader): void {
    const start = bounds[2 * body] as number;
    const end = bounds[2 * body + 1] as number;
    const size = measures.bodyBytes[body] as number;
    addPoint(map, bodyStart, output);
    output += u32Length(size);
    addPoint(map, start - base, output);
    const outputEnd = output + size;
    const guard = exitGuardOf(context, body);
    const codeStart = readLocals(module.bytes, start, end, layout.importCount + body);
    // The distance between an instruction in the output and in the input.
    let shift = output - (start - base);
    const prologueBytes = prologueLength(context, body, guard);
    if (prologueBytes > 0) {
      addPoint(map, codeStart - base, codeStart - base + shift, 0, true);
      shift += prologueBytes;
      addPoint(map, codeStart - base, codeStart - base + shift, 0, true);
    }
    while (patchSites.next < end) {
      nextPatch(context, body, guard !== 'none', patchSites, patch);
      const before = insertedLength(layout, patch);
      const delta = patchSizeDelta(layout, patch);
      if (before > 0) addPoint(map, patch.start - base, patch.start - base + shift + before, before);
      shift += delta;
      if (delta !== before) addPoint(map, patch.end - base, patch.end - base + shift);
    }
    output = outputEnd;
    bodyStart = end - base;
  }

  addPoint(map, 0, 0);
  for (const { firstBody, lastBody, patchSites } of partitions) {
    const reader = readPatchSites(patchSites);
    for (let body = firstBody; body < lastBody; body++) addBody(body, reader);
  }
  addPoint(map, bodyStart, output, 0, true);
  return map;
}
