import { u32Length } from './byte-writer.ts';
import type { CodeScan } from './code-cursor.ts';
import { limitExceeded } from './errors.ts';
import { maxFunctionBodyBytes } from './limits.ts';
import { type Body, type BodyContext, frameOf, rewriteBody } from './rewrite-body.ts';
import { readSites, type SiteReader } from './site-list.ts';

/** What became of the bodies. */
export interface RewrittenBodies {
  /** Blocks put around each body, by which the indices of its labels shift. */
  readonly addedLabels: Uint8Array;
  /** Functions whose body would have passed an engine's limit. */
  readonly leftUntraced: readonly number[];
}

/** Appends all bodies. One that would pass the engines' limit only because of tracing stays untraced. */
export function rewriteBodies(context: BodyContext, scan: CodeScan): RewrittenBodies {
  const { bounds, traits, halves } = scan;
  const { importCount, traced } = context.layout;
  const addedLabels = new Uint8Array(traits.length);
  const leftUntraced: number[] = [];
  for (const { firstBody, lastBody, sites } of halves) {
    const reader = readSites(sites, bounds[2 * firstBody] ?? 0);
    for (let index = firstBody; index < lastBody; index++) {
      const body = {
        functionIndex: importCount + index,
        start: bounds[2 * index] as number,
        end: bounds[2 * index + 1] as number,
        traits: traits[index] as number,
      };
      const wantsTracing = traced[body.functionIndex] === 1;
      const labels = rewriteWithinLimit(context, body, wantsTracing, reader);
      if (labels === 'untraced') leftUntraced.push(body.functionIndex);
      else addedLabels[index] = labels;
      scan.advance(body.end - body.start);
    }
  }
  return { addedLabels, leftUntraced };
}

/** Returns the number of labels around the body, or that it had to be left untraced. */
function rewriteWithinLimit(
  context: BodyContext,
  body: Body,
  isTraced: boolean,
  sites: SiteReader,
): number | 'untraced' {
  const { writer, layout } = context;
  const { at, next } = sites;
  const writtenBefore = writer.length;
  const frame = isTraced ? frameOf(layout, body.traits) : 'bare';
  rewriteBody(context, body, frame, isTraced, sites);
  const written = writer.length - writtenBefore;
  const size = written - u32Length(written);
  const bodyBytes = body.end - body.start;
  if (size <= maxFunctionBodyBytes || (!isTraced && bodyBytes > maxFunctionBodyBytes)) {
    return frame === 'bare' ? 0 : frame === 'exnref' ? 2 : 1;
  }
  if (!isTraced) throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, body.start);
  writer.length = writtenBefore;
  sites.at = at;
  sites.next = next;
  rewriteWithinLimit(context, body, false, sites);
  return 'untraced';
}
