import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plugin, VersionState } from '@tenon/protocol';
import { guestCount, inUse, whyBound } from './plugin-words.ts';

/** A plugin whose newest version is in a state, and which binds these versions, one under each guest. */
function plugin(newest: number, state: VersionState, bound: readonly (number | null)[], isBlocked = false) {
  const bindings = bound.map((version) => ({
    guestId: 'gst_x',
    version,
    isPinned: false,
    pinnedTo: null,
    rolledBackTo: null,
  }));
  return {
    version: { number: newest, state } as Plugin['version'],
    status: { state: isBlocked ? ('blocked' as const) : state, reason: null, detail: '', bindings },
  } as Pick<Plugin, 'status' | 'version'>;
}

describe('inUse()', () => {
  it('names the version that guests get, and calls no live plugin yanked', () => {
    assert.deepEqual(inUse(plugin(4, 'yanked', [3])), { text: 'v3 active · newest v4 yanked', kind: 'good' });
    assert.deepEqual(inUse(plugin(2, 'rejected', [1, null])), { text: 'v1 active · newest v2 rejected', kind: 'good' });
  });

  it('calls nothing active that no guest gets, though it is published', () => {
    assert.deepEqual(inUse(plugin(5, 'published', [3, 3])), { text: 'v3 active · newest v5', kind: 'good' });
    assert.deepEqual(inUse(plugin(5, 'published', [null])), { text: 'not active · newest v5', kind: 'waiting' });
  });

  it('is short where all guests get the newest, and names every version where they do not', () => {
    assert.deepEqual(inUse(plugin(2, 'published', [2, 2])), { text: 'v2 active', kind: 'good' });
    assert.equal(inUse(plugin(11, 'published', [2, 11, 10])).text, 'v11, v10, and v2 active · newest v11');
  });

  it('says what became of a plugin that is not active', () => {
    const none = (state: VersionState) => inUse(plugin(1, state, [null]));
    assert.deepEqual(none('yanked'), { text: 'not active · newest v1 yanked', kind: 'bad' });
    assert.deepEqual(none('awaiting_approval'), { text: 'not active · newest v1 awaiting approval', kind: 'waiting' });
    assert.deepEqual(inUse(plugin(1, 'published', [null], true)), { text: 'blocked', kind: 'bad' });
  });
});

describe('whyBound()', () => {
  it('is about one guest, because another may have a newer version', () => {
    const { status } = plugin(3, 'published', [2, null]);
    const versions = [3, 2].map((number) => ({
      number,
      state: 'published' as const,
      guestIds: [],
      hasMoreGuests: false,
      decidedBy: null,
      rollOut: null,
    }));
    const why = (bound: (typeof status.bindings)[number]) =>
      whyBound({ plugin: { status, hasMoreGuests: false }, versions }, bound);
    assert.deepEqual(status.bindings.map(why), ['the newest for this guest', 'no version is published for this guest']);
  });

  it('says whether a roll-out has reached the guest', () => {
    const { status } = plugin(3, 'published', [3, 2]);
    const summary = { state: 'paused' as const, step: 0, steps: 1, percent: 1 };
    const versions = [3, 2].map((number) => ({
      ...{ number, state: 'published' as const, guestIds: ['gst_x' as const], hasMoreGuests: false, decidedBy: null },
      rollOut: number === 3 ? summary : null,
    }));
    assert.deepEqual(
      status.bindings.map((bound) => whyBound({ plugin: { status, hasMoreGuests: false }, versions }, bound)),
      ['reached by the roll-out', 'version 3 has not reached it'],
    );
  });
});

describe('guestCount()', () => {
  it('says of a list that was cut off that there are more', () => {
    assert.equal(guestCount(['gst_a'], false), '1 guest');
    assert.equal(guestCount(Array(100).fill('gst_a'), false), '100 guests');
    assert.equal(guestCount(Array(5000).fill('gst_a'), true), 'more than 5,000 guests');
  });
});
