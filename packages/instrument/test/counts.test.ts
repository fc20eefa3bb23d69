import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import { checkCounts } from './support/counting/check-counts.ts';

const programCount = volume(8, 1_500);

describe('instrument() with coverage and fuel on random programs', () => {
  it(`counts and limits ${programCount} programs as an interpreter does`, (test) => {
    let calls = 0;
    let instructions = 0;
    let blocks = 0;
    let outOfFuel = 0;
    for (let seed = 1; seed <= programCount; seed++) {
      const counted = checkCounts(seed);
      calls += counted.calls;
      instructions += counted.instructions;
      blocks += counted.blocks;
      outOfFuel += counted.outOfFuel;
    }
    test.diagnostic(`${calls} calls, ${instructions} instructions, ${blocks} blocks, out of fuel ${outOfFuel} times`);
    assert.ok(calls > 3 * programCount && outOfFuel >= programCount);
  });
});
