import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkCallTree } from '../support/call-trees/check.ts';
import { checkMutant, mutationOriginals } from '../support/mutate.ts';
import { compareRuns } from '../support/translate-to-fuzz/compare.ts';
import { loadWasmOpt, makeModule } from '../support/translate-to-fuzz/generator.ts';

/** What can be tried with any seed; throws where the rewriter is wrong. The keys are those of `regressions.json`. */
export async function fuzzTargets(): Promise<Readonly<Record<string, (seed: number) => void>>> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-fuzz-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true }));
  const wasmOpt = await loadWasmOpt();
  const originals = await mutationOriginals();
  return {
    callTrees: (seed) => checkCallTree(seed),
    translateToFuzz: (seed) => compareRuns(makeModule(wasmOpt, folder, seed), `seed ${seed}`),
    mutations: (seed) => checkMutant(seed, originals),
  };
}
