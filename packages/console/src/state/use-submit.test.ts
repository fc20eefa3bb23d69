import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../api/api-error.ts';
import { sortFaults } from './use-submit.ts';

describe('sortFaults()', () => {
  const errorWith = (...errors: { pointer: string; detail: string }[]) =>
    new ApiError({ code: 'invalid_field', status: 422, title: 'A field is not valid', detail: 'Look.', errors });

  it('tells fields what is wrong with them, and has nothing left when that is all', () => {
    const { byField, rest } = sortFaults(
      errorWith(
        { pointer: '/name', detail: 'Too long.' },
        { pointer: '/scopes/0', detail: 'Unknown.' },
        { pointer: '/name', detail: 'And empty.' },
      ),
      ['name', 'scopes'],
    );
    assert.deepEqual(Object.fromEntries(byField), { name: 'Too long. And empty.', scopes: 'Unknown.' });
    assert.equal(rest, undefined);
  });

  it('leaves an error that says more than fields can show', () => {
    const error = errorWith({ pointer: '/name', detail: 'Too long.' }, { pointer: '/names', detail: 'Unknown.' });
    const { byField, rest } = sortFaults(error, ['name']);
    assert.equal(byField.size, 1);
    assert.equal(rest, error);
  });

  it('leaves any other error as it is', () => {
    const error = new Error('x');
    assert.equal(sortFaults(error, ['name']).rest, error);
    assert.equal(sortFaults(undefined, ['name']).rest, undefined);
  });
});
