import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filterQuery, filterSearch, noFilter, readFilter } from './filter.ts';

describe('filterSearch()', () => {
  it('is what readFilter() reads, and nothing where nothing is filtered', () => {
    const filter = { ...noFilter, action: 'version.yank', target: 'ext_1/plugin/usr_1/a.b', to: '2026-03-01' };
    assert.deepEqual(readFilter(Object.fromEntries(new URLSearchParams(filterSearch(filter)))), filter);
    assert.equal(filterSearch(noFilter), '');
    assert.deepEqual(readFilter({ limit: '5' }), noFilter);
  });
});

describe('filterQuery()', () => {
  it('takes days as the reader counts them, both included', () => {
    const { from, to, action, user } = filterQuery({
      ...noFilter,
      from: '2026-02-28',
      to: '2026-02-28',
      user: 'usr_1',
    });
    assert.equal(from, new Date(2026, 1, 28).toISOString());
    assert.equal(to, new Date(2026, 2, 1).toISOString());
    assert.equal(action, undefined);
    assert.equal(user, 'usr_1');
  });

  it('leaves out what is no day', () => {
    assert.equal(filterQuery({ ...noFilter, from: 'yesterday' }).from, undefined);
  });
});
