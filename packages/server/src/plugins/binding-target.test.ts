import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VersionId } from '@tenon/protocol';
import type { BindingFacts } from '../db/store.ts';
import { bindingTarget } from './binding-target.ts';

const [pinned, selected, newest]: VersionId[] = ['ver_pinned', 'ver_selected', 'ver_newest'];
assert.ok(pinned && selected && newest);
const facts: BindingFacts = { isBlocked: false, pinned: null, selected: null, newest };

describe('bindingTarget()', () => {
  it('is the newest version by default', () => {
    assert.equal(bindingTarget(facts), newest);
    assert.equal(bindingTarget({ ...facts, newest: null }), null);
  });

  it('is the version that was rolled back to', () => {
    assert.equal(bindingTarget({ ...facts, selected }), selected);
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
