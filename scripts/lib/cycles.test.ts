import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCycles } from './cycles.mjs';

describe('findCycles()', () => {
  it('finds none where everything points one way', () => {
    assert.deepEqual(
      findCycles(
        new Map([
          ['a', ['b', 'c']],
          ['b', ['c']],
          ['c', ['outside']],
        ]),
      ),
      [],
    );
  });

  it('finds the shortest way round from each node that is on a cycle not shown yet', () => {
    const edges = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['d']],
      ['d', ['b']],
    ]);
    assert.deepEqual(findCycles(edges), [
      ['b', 'd', 'b'],
      ['c', 'd', 'b', 'c'],
    ]);
  });

  it('finds cycles that have nothing to do with each other', () => {
    assert.deepEqual(
      findCycles(
        new Map([
          ['a', ['a']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
      [
        ['a', 'a'],
        ['b', 'c', 'b'],
      ],
    );
  });
});
