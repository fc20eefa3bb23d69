import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkCallTree } from '../support/check-call-tree.ts';
import { checkMutant, mutationOriginals } from '../support/mutate.ts';
import { compareRuns } from '../support/translate-to-fuzz/compare.ts';
import { createModuleMaker } from '../support/translate-to-fuzz/generator.ts';

/** What can be tried with any seed; throws where the rewriter is wrong. The keys are those of `regressions.json`. */
export async function fuzzTargets(): Promise<Readonly<Record<string, (seed: number) => unknown>>> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-fuzz-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true }));
  const makeModule = createModuleMaker(folder);
  const originals = await mutationOriginals();
  return {
    callTrees: (seed) => checkCallTree(seed),
    async translateToFuzz(seed) {
      const module = await makeModule(seed);
      if (module !== undefined) compareRuns(module, `seed ${seed}`);
    },
    mutations: (seed) => checkMutant(seed, originals),
  };
}
