/**
 * Measures what reading an extension point's schema and making TypeScript types of it take for schemas of one, two, four and
 * eight times the size. Both are to grow in proportion: the last column is then about eight, and sixty-four where each part
 * is compared with all others. Times are the best of several runs.
 *
 *     node packages/protocol/bench/schemas.bench.ts
 */

import { hostTypes } from '../src/host-types.ts';
import { parseExtensionPointSchema } from '../src/parse.ts';

const factors = [1, 2, 4, 8];
const runs = 5;

function bestMs(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const startMs = performance.now();
    work();
    best = Math.min(best, performance.now() - startMs);
  }
  return best;
}

function report(what: string, unit: string, count: number, make: (count: number) => () => void): void {
  const times = factors.map((factor) => bestMs(make(count * factor)));
  const cells = times.map((ms, at) => `${count * (factors[at] ?? 1)} ${unit}: ${ms.toFixed(1)} ms`);
  const growth = (times.at(-1) ?? 0) / (times[0] ?? 1);
  console.log(`${what}: ${cells.join(', ')}; ${growth.toFixed(1)} times for eight times the size`);
}

report('parseExtensionPointSchema()', 'exports', 800, (count) => {
  const text = `exports:\n${Array.from({ length: count }, (_, at) => `  k${at}: {}`).join('\n')}`;
  return () => void parseExtensionPointSchema(text);
});

report('hostTypes()', 'components', 500, (count) => {
  const schemas: Record<string, unknown> = { c0: { type: 'string' } };
  for (let at = 1; at < count; at++) {
    schemas[`c${at}`] = { properties: { next: { $ref: `#/components/schemas/c${at - 1}` } } };
  }
  return () => void hostTypes({ components: { schemas } });
});
