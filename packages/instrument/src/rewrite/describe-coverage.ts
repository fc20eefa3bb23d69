import type { CoverageBlock, CoverageMap, CoveredFunction } from '../coverage/coverage-map.ts';
import type { BodyContext } from './body-context.ts';
import { type OffsetMap, outputOffset } from './offset-map.ts';
import { isCounted, type Probes } from './probes.ts';

/** Describes the counted blocks of the output. */
export function describeCoverage({ layout }: BodyContext, probes: Probes, map: OffsetMap): CoverageMap {
  const { blocks } = probes;
  const functions: CoveredFunction[] = [];
  let blockCount = 0;
  for (let body = 0; body + 1 < blocks.firstBlocks.length; body++) {
    if (!isCounted(probes, body)) continue;
    const described: CoverageBlock[] = [];
    for (let block = blocks.firstBlocks[body] as number; block < (blocks.firstBlocks[body + 1] as number); block++) {
      const start = blocks.start(block) - map.inputCodeStart;
      const end = blocks.end(block) - map.inputCodeStart;
      described.push({
        counter: block,
        start,
        end,
        outputStart: outputOffset(map, start),
        outputEnd: outputOffset(map, end),
      });
    }
    blockCount += described.length;
    functions.push({ functionIndex: layout.importCount + body, blocks: described });
  }
  return { functions, blockCount };
}
