import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFunctionFinder } from './find-functions.ts';
import { createFunctionTable } from './function-table.ts';

describe('createFunctionFinder()', () => {
  const sizes = [undefined, 10, 300, 10, 7] as const;
  const names = ['env.log', 'core::fmt::Write', 'Ärger', 'core::str::from', 'a log b'];
  const finder = createFunctionFinder(
    createFunctionTable(
      names.map((name, index) => {
        const bodyBytes = sizes[index];
        return { name, nameSource: 'name-section', ...(bodyBytes === undefined ? {} : { bodyBytes }) };
      }),
    ),
  );

  it('lists all of them in each order', () => {
    assert.deepEqual([...finder.find('', 'index')], [0, 1, 2, 3, 4]);
    assert.deepEqual([...finder.find('  ', 'size')], [2, 1, 3, 4, 0], 'as they come where they are as big');
    assert.deepEqual([...finder.find('', 'name')], [4, 1, 3, 0, 2]);
  });

  it('finds those whose names have all the words, in any case', () => {
    assert.deepEqual([...finder.find('CORE', 'size')], [1, 3]);
    assert.deepEqual([...finder.find('fmt core', 'index')], [1]);
    assert.deepEqual([...finder.find('ä', 'index')], [2]);
    assert.deepEqual([...finder.find('log', 'name')], [4, 0]);
    assert.deepEqual([...finder.find('none of it', 'index')], []);
  });

  it('puts sizes and indices of every kind in order', () => {
    const many = Array.from({ length: 3_000 }, (_, index) =>
      index % 7 === 0 ? undefined : (index * 7919) % 4_294_967_296,
    );
    const large = [...many, 4_294_967_295, 0, 1];
    const table = createFunctionTable(
      large.map((bytes) => ({
        name: 'f',
        nameSource: 'name-section',
        ...(bytes === undefined ? {} : { bodyBytes: bytes }),
      })),
    );
    const expected = large
      .map((bytes, index) => ({ bytes: bytes ?? 0, index }))
      .sort((a, b) => b.bytes - a.bytes || a.index - b.index);
    assert.deepEqual(
      [...createFunctionFinder(table).find('', 'size')],
      expected.map(({ index }) => index),
    );
  });

  it('hands out lists that a caller may keep', () => {
    finder.find('', 'index').fill(0);
    assert.deepEqual([...finder.find('', 'index')], [0, 1, 2, 3, 4]);
  });
});
