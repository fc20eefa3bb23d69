import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clockStepMicroseconds } from './clock-step.ts';

describe('clockStepMicroseconds()', () => {
  for (const step of [5, 20, 100, 1000]) {
    it(`finds that a clock goes on by ${step} µs`, () => {
      let looks = 0;
      const now = () => {
        looks += 1;
        return 1e9 + (Math.floor(looks / 7) * step) / 1e3;
      };
      assert.equal(clockStepMicroseconds(now), step);
    });
  }

  it('takes the least step, since others come from waiting', () => {
    const times = [0, 3, 3.005, 9, 9.005];
    assert.equal(
      clockStepMicroseconds(() => times.shift() ?? 9.005),
      5,
    );
  });

  it('gives up on a clock that stands still', () => {
    assert.equal(
      clockStepMicroseconds(() => 1),
      Number.POSITIVE_INFINITY,
    );
  });
});
