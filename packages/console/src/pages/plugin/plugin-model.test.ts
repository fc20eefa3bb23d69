import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App, VersionState } from '@tenon/protocol';
import {
  boundBy,
  type Change,
  changed,
  effectOf,
  isReturnToNewest,
  type PluginModel,
  sidesOf,
  versionActions,
} from './plugin-model.ts';

const states: readonly VersionState[] = [
  'published',
  'published',
  'published',
  'yanked',
  'rejected',
  'awaiting_approval',
];

/** Two versions under two guests. */
const model: PluginModel = {
  isBlocked: false,
  hasMoreGuests: false,
  claims: [
    { guestId: 'gst_a', pinnedTo: null, rolledBackTo: null },
    { guestId: 'gst_b', pinnedTo: null, rolledBackTo: null },
  ],
  versions: [
    { number: 2, state: 'published', guestIds: ['gst_a', 'gst_b'] },
    { number: 1, state: 'published', guestIds: ['gst_a', 'gst_b'] },
  ],
};

function after(...changes: readonly Change[]): PluginModel {
  return changes.reduce(changed, model);
}

function bound(of: PluginModel): (number | null)[] {
  return of.claims.map((claim) => boundBy(of, claim));
}

describe('changed()', () => {
  it('follows what the page on publishing says of each change', () => {
    const awaiting: PluginModel = {
      ...model,
      versions: [{ number: 3, state: 'awaiting_approval', guestIds: ['gst_a'] }, ...model.versions],
    };
    assert.deepEqual(bound(awaiting), [2, 2]);
    assert.deepEqual(bound(changed(awaiting, { kind: 'approve', version: 3 })), [3, 2]);
    assert.deepEqual(bound(changed(awaiting, { kind: 'reject', version: 3 })), [2, 2]);
    assert.deepEqual(bound(after({ kind: 'yank', version: 2 })), [1, 1]);
    assert.deepEqual(bound(after({ kind: 'yank', version: 1 })), [2, 2]);
    assert.deepEqual(bound(after({ kind: 'yank', version: 1 }, { kind: 'yank', version: 2 })), [null, null]);
    assert.deepEqual(bound(after({ kind: 'yank', version: 2 }, { kind: 'restore', version: 2 })), [2, 2]);
    assert.deepEqual(bound(after({ kind: 'rollBack', version: 1 })), [1, 1]);
    assert.deepEqual(bound(after({ kind: 'rollBack', version: 1 }, { kind: 'rollBack', version: 2 })), [2, 2]);
    assert.deepEqual(bound(after({ kind: 'rollBack', version: 1 }, { kind: 'yank', version: 1 })), [2, 2]);
    const pin: Change = { kind: 'pin', guestId: 'gst_a', version: 1 };
    assert.deepEqual(bound(after(pin)), [1, 2]);
    assert.deepEqual(bound(after(pin, { kind: 'yank', version: 1 })), [null, 2]);
    assert.deepEqual(bound(after(pin, { kind: 'unpin', guestId: 'gst_a' })), [2, 2]);
    assert.deepEqual(bound(after({ kind: 'block' })), [null, null]);
    assert.deepEqual(bound(after({ kind: 'block' }, { kind: 'unblock' })), [2, 2]);
    assert.deepEqual(bound(after(pin, { kind: 'delete' })), [null, null]);
  });

  it('ends a roll back when a newer version is approved, under the guests of that version', () => {
    const rolledBack: PluginModel = {
      ...after({ kind: 'rollBack', version: 1 }),
      versions: [{ number: 3, state: 'awaiting_approval', guestIds: ['gst_b'] }, ...model.versions],
    };
    assert.deepEqual(bound(changed(rolledBack, { kind: 'approve', version: 3 })), [1, 3]);
  });
});

describe('effectOf()', () => {
  it('tells of each guest, of those too where nothing changes', () => {
    const pinned = after({ kind: 'pin', guestId: 'gst_b', version: 2 });
    assert.deepEqual(effectOf(pinned, { kind: 'rollBack', version: 1 }), [
      { guestId: 'gst_a', before: 2, after: 1 },
      { guestId: 'gst_b', before: 2, after: 2 },
    ]);
  });
});

describe('versionActions()', () => {
  const host = { isHost: true, isPublisher: false };
  const publisher = { isHost: false, isPublisher: true };
  const nobody = { isHost: false, isPublisher: false };
  const in_ = (state: VersionState, decidedBy: 'host' | 'publisher' | null = null) => ({ number: 2, state, decidedBy });

  it('are what each side may do in a state', () => {
    assert.deepEqual(versionActions(model, in_('awaiting_approval'), host), ['approve', 'reject']);
    assert.deepEqual(versionActions(model, in_('awaiting_approval'), publisher), []);
    assert.deepEqual(versionActions(model, in_('yanked', 'host'), host), ['restore']);
    assert.deepEqual(versionActions(model, in_('yanked', 'host'), publisher), []);
    assert.deepEqual(versionActions(model, in_('yanked', 'publisher'), publisher), ['restore']);
    assert.deepEqual(versionActions(model, in_('rejected', 'host'), host), []);
    for (const state of states) assert.deepEqual(versionActions(model, in_(state, 'publisher'), nobody), []);
  });

  it('offer a roll back only where it changes something', () => {
    const of = (number: number, at = model) =>
      versionActions(at, { number, state: 'published', decidedBy: null }, publisher);
    assert.deepEqual(of(2), ['yank']);
    assert.deepEqual(of(1), ['rollBack', 'yank']);
    const rolledBack = after({ kind: 'rollBack', version: 1 });
    assert.deepEqual(of(2, rolledBack), ['rollBack', 'yank']);
    assert.deepEqual(of(1, rolledBack), ['yank']);
    assert.deepEqual(
      of(2, { ...model, hasMoreGuests: true }),
      ['rollBack', 'yank'],
      'under a guest that is not listed',
    );
    assert.ok(isReturnToNewest(rolledBack, 2));
    assert.ok(!isReturnToNewest(model, 1));
  });
});

describe('sidesOf()', () => {
  it('takes an own plugin for one only while a guest is held', () => {
    const app = (role: App['role'], guestIds: string[]) => ({ role, guestIds }) as unknown as App;
    const plugin = { userId: 'usr_a' } as never;
    assert.deepEqual(sidesOf(app('guest', ['gst_a']), plugin, 'usr_a'), { isHost: false, isPublisher: true });
    assert.deepEqual(sidesOf(app('guest', ['gst_a']), plugin, 'usr_b'), { isHost: false, isPublisher: false });
    assert.deepEqual(sidesOf(app('admin', []), plugin, 'usr_a'), { isHost: true, isPublisher: false });
    assert.deepEqual(sidesOf(app('viewer', []), plugin, 'usr_a'), { isHost: false, isPublisher: false });
  });
});
