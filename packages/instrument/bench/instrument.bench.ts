/**
 * Prints MB of module a second for `instrument()` beside `WebAssembly.validate()`, which is native code on several
 * threads, on the same modules in the same run. Best of several runs each: run it on a quiet machine.
 *
 *     node packages/instrument/bench/instrument.bench.ts [module.wasm …]
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { instrument } from '../src/index.ts';

const require = createRequire(import.meta.url);
const defaults = ['sql.js/dist/sql-wasm.wasm', '@resvg/resvg-wasm/index_bg.wasm', 'esbuild-wasm/esbuild.wasm'];
const given = process.argv.slice(2);
const files = given.length > 0 ? given : defaults.map((module) => require.resolve(module));

function bestMs(budgetMs: number, run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (const begin = performance.now(); performance.now() - begin < budgetMs; ) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

console.log('module                    MB   instrument   validate   time ratio   growth');
for (const file of files) {
  const bytes = new Uint8Array(fs.readFileSync(file));
  const output = instrument(bytes).bytes;
  if (!WebAssembly.validate(bytes)) console.log(`${file} does not validate here: its validate column means nothing`);
  const instrumentMs = bestMs(4_000, () => instrument(bytes));
  const validateMs = bestMs(2_000, () => WebAssembly.validate(bytes));
  const rate = (ms: number) => `${(bytes.length / 1_000 / ms).toFixed(0)} MB/s`;
  console.log(
    path.basename(file).padEnd(20),
    (bytes.length / 1e6).toFixed(2).padStart(7),
    rate(instrumentMs).padStart(12),
    rate(validateMs).padStart(10),
    (instrumentMs / validateMs).toFixed(2).padStart(12),
    `${((output.length / bytes.length - 1) * 100).toFixed(1)} %`.padStart(8),
  );
}
