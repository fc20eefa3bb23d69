import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VersionId } from '@tenon/protocol';
import type { BindingFacts } from '../db/store.ts';
import { bindingTarget } from './binding-target.ts';

const [pinned, selected, newest]: VersionId[] = ['ver_pinned', 'ver_selected', 'ver_newest'];
assert.ok(pinned && selected && newest);
const none = { isBlocked: false, pinned: null, selected: null, selectedAtNumber: null };
const facts: BindingFacts = { ...none, newest, candidates: [] };

describe('bindingTarget()', () => {
  it('is the newest version by default', () => {
    assert.equal(bindingTarget(facts), newest);
    assert.equal(bindingTarget({ ...facts, newest: null }), null);
  });

  it('is the version that was rolled back to', () => {
    assert.equal(bindingTarget({ ...facts, selected }), selected);
  });

  describe('with versions in a roll-out', () => {
    const [two, three]: VersionId[] = ['ver_two', 'ver_three'];
    assert.ok(two && three);
    const candidates = (isTwo: boolean, isThree: boolean) => [
      { id: two, number: 2, isReached: isTwo },
      { id: three, number: 3, isReached: isThree },
    ];

    it('is the highest version whose roll-out reaches the guest', () => {
      assert.equal(bindingTarget({ ...facts, candidates: candidates(false, false) }), newest);
      assert.equal(bindingTarget({ ...facts, candidates: candidates(true, false) }), two);
      assert.equal(bindingTarget({ ...facts, candidates: candidates(true, true) }), three);
      assert.equal(bindingTarget({ ...facts, newest: null, candidates: candidates(false, false) }), null);
    });

    it('ignores candidates that existed when it was rolled back', () => {
      const rolledBack = { ...facts, selected, candidates: candidates(true, true) };
      assert.equal(bindingTarget({ ...rolledBack, selectedAtNumber: 1 }), three);
      assert.equal(bindingTarget({ ...rolledBack, selectedAtNumber: 2 }), three);
      assert.equal(bindingTarget({ ...rolledBack, selectedAtNumber: 3 }), selected);
      assert.equal(
        bindingTarget({ ...rolledBack, selectedAtNumber: 2, candidates: candidates(true, false) }),
        selected,
      );
    });

    it('ignores candidates for a pinned binding or a blocked plugin', () => {
      const reached = { ...facts, candidates: candidates(true, true) };
      assert.equal(bindingTarget({ ...reached, pinned: { id: pinned, isPublished: true } }), pinned);
      assert.equal(bindingTarget({ ...reached, isBlocked: true }), null);
    });
  });

  it('is the pinned version in any case, and none if that is not published', () => {
    for (const rest of [facts, { ...facts, selected }, { ...facts, newest: null }]) {
      assert.equal(bindingTarget({ ...rest, pinned: { id: pinned, isPublished: true } }), pinned);
      assert.equal(bindingTarget({ ...rest, pinned: { id: pinned, isPublished: false } }), null);
    }
  });

  it('is none while the plugin is blocked', () => {
    for (const rest of [facts, { ...facts, selected }, { ...facts, pinned: { id: pinned, isPublished: true } }]) {
      assert.equal(bindingTarget({ ...rest, isBlocked: true }), null);
    }
  });
});
