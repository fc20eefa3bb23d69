import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareText, newestFirst } from './guest-data.ts';

describe('newestFirst()', () => {
  it('goes by the ids letter by letter, digits before letters, whatever numbers they seem to hold', () => {
    const inOrder = ['inv_01m7xt9', 'inv_01m7xt10', 'inv_01m7x9', 'inv_01m7x10'];
    const made = inOrder.toSorted().map((id) => ({ id }));
    assert.deepEqual(
      newestFirst(made).map(({ id }) => id),
      inOrder,
    );
  });
});

describe('compareText()', () => {
  it('sorts as people do', () => {
    assert.deepEqual(['customer-10', 'Customer-3', 'customer-2'].toSorted(compareText), [
      'customer-2',
      'Customer-3',
      'customer-10',
    ]);
  });
});
