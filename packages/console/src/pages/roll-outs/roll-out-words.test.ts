import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exceptPinned, rollOutActions, shareInWords, stepInWords } from './roll-out-words.ts';

describe('rollOutActions()', () => {
  it('offers what the state allows', () => {
    const at = (state: Parameters<typeof rollOutActions>[0]['state'], step = 0) =>
      rollOutActions({ state, step, steps: 2 }).join(' ');
    assert.equal(at('running'), 'promote promoteToAll pause abort');
    assert.equal(at('running', 1), 'promoteToAll pause abort');
    assert.equal(at('paused'), 'resume promote promoteToAll abort');
    assert.equal(at('halted'), 'resume abort');
    for (const state of ['planned', 'completed', 'aborted', 'superseded'] as const) assert.equal(at(state), '', state);
  });
});

describe('exceptPinned()', () => {
  it('counts the guests that keep a halted version', () => {
    assert.equal(exceptPinned({ reachedGuests: 0 }), '');
    assert.equal(exceptPinned({ reachedGuests: 1 }), ', except 1 that is pinned to this version');
    assert.equal(exceptPinned({ reachedGuests: 1030 }), ', except 1,030 that are pinned to this version');
  });
});

describe('stepInWords(), shareInWords()', () => {
  it('count from one', () => {
    assert.equal(stepInWords({ step: 0, steps: 3 }), 'step 1 of 3');
    assert.equal(stepInWords({ step: 3, steps: 3 }), 'step 3 of 3');
    assert.equal(shareInWords({ reachedGuests: 1030, totalGuests: 10_000 }), '1,030 of 10,000 guests');
    assert.equal(shareInWords({ reachedGuests: 0, totalGuests: 1 }), '0 of 1 guest');
  });
});
