import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFunctionTable } from '../inspect/function-table.ts';
import { layoutSizes } from './size-tiles.ts';

const box = { x: 0, y: 0, width: 400, height: 200 };

function tableOf(sizes: readonly (readonly [name: string, bytes: number | undefined])[]) {
  return createFunctionTable(
    sizes.map(([name, bytes]) => ({
      name,
      nameSource: 'name-section',
      ...(bytes === undefined ? {} : { bodyBytes: bytes }),
    })),
  );
}

describe('layoutSizes()', () => {
  it('shows the biggest by name and the rest as one, by groups, each with its share', () => {
    const table = tableOf([
      ['env.log', undefined],
      ['core::a', 100],
      ['core::b', 300],
      ['std::c', 200],
      ['x', 150],
      ['std::tiny', 30],
      ['std::tinier', 20],
    ]);
    const { tiles, groups } = layoutSizes(table, Uint32Array.of(2, 3, 4, 1), box);
    assert.deepEqual(groups, [
      { name: 'core', bytes: 400, colour: 0 },
      { name: 'std', bytes: 200, colour: 1 },
      { name: 'other', bytes: 200, colour: 7 },
    ]);
    assert.deepEqual(
      tiles.map(({ name, bytes, functions, colour }) => [name, bytes, functions, colour]),
      [
        ['core::b', 300, 1, 0],
        ['core::a', 100, 1, 0],
        ['std::c', 200, 1, 1],
        ['x', 150, 1, 7],
        [undefined, 50, 2, 7],
      ],
    );
    for (const { width, height, bytes } of tiles) assert.ok(Math.abs((width * height) / 80_000 - bytes / 800) < 1e-9);
  });

  it('puts what comes after the seven biggest groups together', () => {
    const names = Array.from({ length: 12 }, (_, index) => [`crate${index}::f`, 1000 - index] as const);
    const { groups } = layoutSizes(tableOf(names), Uint32Array.from(names.keys()), box);
    assert.equal(groups.length, 8);
    assert.deepEqual(groups[0], { name: 'other', bytes: 993 + 992 + 991 + 990 + 989, colour: 7 });
  });

  it('is empty for a module without code', () => {
    assert.deepEqual(layoutSizes(tableOf([['env.f', undefined]]), Uint32Array.of(0), box), { tiles: [], groups: [] });
  });
});
