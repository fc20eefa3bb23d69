import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Box, squarify } from './treemap.ts';

const box: Box = { x: 10, y: 20, width: 600, height: 300 };
const area = ({ width, height }: Box): number => width * height;

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 1e-6 && height > 1e-6 ? width * height : 0;
}

describe('squarify()', () => {
  const weights = Array.from({ length: 120 }, (_, index) => 5000 / (index + 1));

  it('gives each weight its share, all within the box and none over another', () => {
    const tiles = squarify(weights, box);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    tiles.forEach((tile, index) => {
      const share = (weights[index] as number) / sum;
      assert.ok(Math.abs(area(tile) / area(box) - share) < 1e-9, `tile ${index}`);
      assert.ok(tile.x >= box.x - 1e-6 && tile.x + tile.width <= box.x + box.width + 1e-6, `tile ${index}`);
      assert.ok(tile.y >= box.y - 1e-6 && tile.y + tile.height <= box.y + box.height + 1e-6, `tile ${index}`);
      for (const other of tiles.slice(index + 1)) assert.equal(overlap(tile, other), 0, `tile ${index}`);
    });
  });

  it('lays tiles near to squares, where one row of all would be strips', () => {
    const ratios = squarify(weights, box).map(({ width, height }) => Math.max(width / height, height / width));
    assert.ok(Math.max(...ratios) < 4, `${Math.max(...ratios)}`);
    const strips = weights.map((weight) => box.height / ((box.width * weight) / 5000));
    assert.ok(Math.max(...strips) > 20);
  });

  it('divides nothing, and leaves one the whole', () => {
    assert.deepEqual(squarify([], box), []);
    assert.deepEqual(squarify([7], box), [box]);
  });
});
