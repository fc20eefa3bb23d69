import assert from 'node:assert/strict';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import regressions from './regressions.json' with { type: 'json' };
import { compareRuns } from './support/translate-to-fuzz/compare.ts';
import { createModuleMaker } from './support/translate-to-fuzz/generator.ts';

const moduleCount = volume(50, 1_000);

describe("instrument() on modules of binaryen's fuzzer", () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-translate-to-fuzz-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const makeModule = createModuleMaker(folder);

  it(`changes nothing of what ${moduleCount} modules do, and nests their calls`, async (test) => {
    let compared = 0;
    let enters = 0;
    for (let seed = 1; seed <= moduleCount; seed++) {
      const module = await makeModule(seed);
      if (module === undefined) continue;
      const tally = compareRuns(module, `seed ${seed}`);
      if (tally.wasCompared) compared++;
      enters += tally.enters;
    }
    test.diagnostic(`${compared} modules, ${enters} calls`);
    assert.ok(compared > 0.9 * moduleCount, `only ${compared} modules were made and stayed within the stack`);
    assert.ok(enters > 20 * moduleCount, `${enters} calls are too few to show anything`);
  });

  for (const seed of regressions.translateToFuzz) {
    it(`still holds for module ${seed}, which failed once`, async () => {
      compareRuns((await makeModule(seed)) ?? assert.fail('binaryen makes nothing of it any more'), `seed ${seed}`);
    });
  }
});
