import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addToSketch, encodeSketch, estimate, mergeSketch, type Sketch, sketchEntry } from './sketch.ts';

const sketchOf = (first: number, count: number): Sketch => {
  const sketch: Sketch = new Map();
  for (let number = first; number < first + count; number++) addToSketch(sketch, sketchEntry(`tok_${number}`));
  return sketch;
};

describe('a sketch', () => {
  it('is exact for a few texts, however often they are added', () => {
    for (const count of [0, 1, 2, 5, 10]) {
      const sketch = sketchOf(0, count);
      for (const [index, rank] of sketchOf(0, count)) addToSketch(sketch, { index, rank });
      assert.equal(estimate(sketch), count);
    }
  });

  it('estimates with a standard error of 3.25 %', () => {
    for (const count of [100, 1000, 2500, 3000, 10_000]) {
      const errors = Array.from({ length: 8 }, (_, run) => estimate(sketchOf(run * 1_000_000, count)) / count - 1);
      for (const error of errors) assert.ok(Math.abs(error) < 4 * 0.0325, `${count}: ${error}`);
      const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
      assert.ok(Math.abs(mean) < 2 * 0.0325, `${count}: ${mean}`);
    }
  });

  it('merges to that of all texts, in any order', () => {
    const merged: Sketch = new Map();
    mergeSketch(merged, encodeSketch(sketchOf(500, 1000)));
    mergeSketch(merged, encodeSketch(sketchOf(0, 1000)));
    mergeSketch(merged, undefined);
    assert.equal(encodeSketch(merged), encodeSketch(sketchOf(0, 1500)));
  });

  it('has at most 2 KiB, and no text that was added', () => {
    const encoded = encodeSketch(sketchOf(0, 100_000)) ?? '';
    assert.ok(Buffer.from(encoded, 'base64').length <= 2048);
    assert.equal(encodeSketch(new Map()), undefined);
  });
});
