import { viewOf } from '../binary/reader.ts';
import { putU32 } from '../binary/writer.ts';
import { readPatchSites } from '../scan/patch-sites.ts';
import { type BodyContext, exitGuardOf, type Measures } from './measure-bodies.ts';
import { type BodyBuffers, rewriteBody } from './write-body.ts';

/** Writes all bodies with their sizes into `out` at `start`, `measures.totalBytes` in all. */
export function writeBodies(context: BodyContext, measures: Measures, out: Uint8Array, start: number): void {
  const { module, scan } = context;
  const { bounds, partitions } = scan;
  const buffers: BodyBuffers = { source: module.bytes, sourceView: viewOf(module.bytes), out, outView: viewOf(out) };
  let at = start;
  for (const { firstBody, lastBody, patchSites } of partitions) {
    const reader = readPatchSites(patchSites, bounds[2 * firstBody] ?? 0);
    for (let body = firstBody; body < lastBody; body++) {
      const guard = exitGuardOf(context, body);
      at = putU32(out, at, measures.bodyBytes[body] as number);
      at = rewriteBody(context, buffers, body, guard, at, reader);
      scan.advance((bounds[2 * body + 1] as number) - (bounds[2 * body] as number));
    }
  }
}
