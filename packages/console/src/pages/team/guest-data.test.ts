import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiClient } from '../../api/client.ts';
import { compareText, fetchGuests } from './guest-data.ts';

describe('compareText()', () => {
  it('sorts as people do, and tells apart what they take for the same', () => {
    const keys = ['customer-10', 'Customer-2', 'customer-2', 'customer-1', 'a', 'é', 'e'];
    assert.deepEqual(keys.toSorted(compareText), [
      'a',
      'customer-1',
      'customer-2',
      'Customer-2',
      'customer-10',
      'e',
      'é',
    ]);
    assert.notEqual(compareText('e\u0301', 'é'), 0);
    assert.equal(compareText('x', 'x'), 0);
  });
});

describe('fetchGuests()', () => {
  it('gives each guest its own invitations, the newest first', async () => {
    const lists: Record<string, readonly object[]> = {
      '/api/v1/apps/app_1/guests': [
        { id: 'gst_b', guestKey: 'b' },
        { id: 'gst_a', guestKey: 'a' },
      ],
      '/api/v1/apps/app_1/invitations': [
        { id: 'inv_1', guestId: 'gst_b' },
        { id: 'inv_2', guestId: 'gst_gone' },
        { id: 'inv_3', guestId: 'gst_b' },
      ],
    };
    const api = { list: async (path: string) => lists[path] } as unknown as ApiClient;
    const guests = await fetchGuests(api, 'app_1', new AbortController().signal);
    assert.deepEqual(
      guests.map(({ guestKey, invitations }) => [guestKey, invitations.map(({ id }) => id)]),
      [
        ['a', []],
        ['b', ['inv_3', 'inv_1']],
      ],
    );
  });
});
