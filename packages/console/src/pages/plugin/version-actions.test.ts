import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App, VersionState } from '@tenon/protocol';
import { isNewestEverywhere, type PluginHistory, rolesOf, versionActions } from './version-actions.ts';

const states: readonly VersionState[] = ['published', 'yanked', 'rejected', 'awaiting_approval'];
const guestIds = ['gst_a', 'gst_b'];

function version(number: number, state: VersionState, decidedBy: 'host' | 'publisher' | null = null) {
  return { number, state, decidedBy, guestIds, hasMoreGuests: false, rollOut: null };
}

/** Two published versions under two guests, which are rolled back to a version. */
function history(rolledBackTo: number | null, hasMoreGuests = false): PluginHistory {
  const bindings = guestIds.map((guestId) => ({
    guestId,
    version: rolledBackTo ?? 2,
    isPinned: false,
    pinnedTo: null,
    rolledBackTo,
  }));
  return {
    plugin: {
      status: { state: 'published', reason: null, isPublisherBlocked: false, detail: '', bindings },
      hasMoreGuests,
    },
    versions: [version(2, 'published'), version(1, 'published')],
  };
}

describe('versionActions()', () => {
  const host = { isHost: true, isPublisher: false };
  const publisher = { isHost: false, isPublisher: true };
  const neither = { isHost: false, isPublisher: false };

  it('returns what each role may do in a state', () => {
    const of = (state: VersionState, decidedBy: 'host' | 'publisher' | null, roles: typeof host) =>
      versionActions(history(null), version(2, state, decidedBy), roles);
    assert.deepEqual(of('awaiting_approval', null, host), ['approve', 'reject']);
    assert.deepEqual(of('awaiting_approval', null, publisher), []);
    assert.deepEqual(of('yanked', 'host', host), ['restore']);
    assert.deepEqual(of('yanked', 'host', publisher), []);
    assert.deepEqual(of('yanked', 'publisher', publisher), ['restore']);
    assert.deepEqual(of('rejected', 'host', host), []);
    for (const state of states) assert.deepEqual(of(state, 'publisher', neither), []);
  });

  it('offers a roll back only where it changes something', () => {
    const of = (number: number, at: PluginHistory) => versionActions(at, version(number, 'published'), publisher);
    assert.deepEqual(of(2, history(null)), ['yank']);
    assert.deepEqual(of(1, history(null)), ['rollBack', 'yank']);
    assert.deepEqual(of(2, history(1)), ['rollBack', 'yank']);
    assert.deepEqual(of(1, history(1)), ['yank']);
    assert.deepEqual(of(2, history(null, true)), ['rollBack', 'yank'], 'under a guest that is not listed');
  });

  it('offers no roll back to a version that has not reached all guests', () => {
    const of = (state: 'running' | 'superseded' | 'completed') =>
      versionActions(
        history(1),
        { ...version(2, 'published'), rollOut: { state, step: 0, steps: 1, percent: 1 } },
        publisher,
      );
    assert.deepEqual(of('running'), ['yank']);
    assert.deepEqual(of('superseded'), ['yank']);
    assert.deepEqual(of('completed'), ['rollBack', 'yank']);
  });
});

describe('isNewestEverywhere()', () => {
  it('ignores newer versions that are not published, or that have other guests', () => {
    const two = history(1);
    assert.ok(isNewestEverywhere(two, version(2, 'published')));
    assert.ok(!isNewestEverywhere(two, version(1, 'published')));
    const yanked = { ...two, versions: [version(2, 'yanked'), version(1, 'published')] };
    assert.ok(isNewestEverywhere(yanked, version(1, 'published')));
    const other = { ...version(2, 'published'), guestIds: ['gst_b'] };
    const onlyForA = { ...version(1, 'published'), guestIds: ['gst_a'] };
    assert.ok(isNewestEverywhere({ ...two, versions: [other, onlyForA] }, onlyForA));
  });
});

describe('rolesOf()', () => {
  it('requires a guest for the publisher', () => {
    const app = (role: App['role'], guestIds: string[]) =>
      ({ role, guests: guestIds.map((id) => ({ id, label: null })) }) as unknown as App;
    const plugin = { userId: 'usr_a' } as never;
    assert.deepEqual(rolesOf(app('guest', ['gst_a']), plugin, 'usr_a'), { isHost: false, isPublisher: true });
    assert.deepEqual(rolesOf(app('guest', ['gst_a']), plugin, 'usr_b'), { isHost: false, isPublisher: false });
    assert.deepEqual(rolesOf(app('admin', []), plugin, 'usr_a'), { isHost: true, isPublisher: false });
    assert.deepEqual(rolesOf(app('viewer', []), plugin, 'usr_a'), { isHost: false, isPublisher: false });
  });
});
