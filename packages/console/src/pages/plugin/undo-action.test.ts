import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { undoOfBlocking, undoOfPinning, undoOfVersionAction } from './undo-action.ts';
import type { PluginHistory, Roles } from './version-actions.ts';

const team: Roles = { isHost: true, isPublisher: false };
const publisher: Roles = { isHost: false, isPublisher: true };
const both: Roles = { isHost: true, isPublisher: true };

/** Two guests with versions 1 and 2, each with the version that it is rolled back to. */
function historyOf(rolledBackTo: readonly (number | null)[], hasMoreGuests = false): PluginHistory {
  const guestIds = rolledBackTo.map((_, at) => `gst_${at}`);
  const bindings = rolledBackTo.map((to, at) => ({ guestId: `gst_${at}`, version: to ?? 2, rolledBackTo: to }));
  const versions = [2, 1].map((number) => ({
    number,
    state: 'published',
    guestIds,
    hasMoreGuests: false,
    decidedBy: null,
    rollOut: null,
    stateReason: null,
  }));
  return { plugin: { status: { bindings }, hasMoreGuests }, versions } as unknown as PluginHistory;
}

function undo(action: 'rollBack' | 'yank' | 'restore' | 'approve' | 'reject', history: PluginHistory, roles = team) {
  const version = { ...history.versions[1], stateReason: 'Wrong.', decidedBy: 'host' } as never;
  return undoOfVersionAction(action, version, history, { name: 'median', apiPath: '/p', roles });
}

describe('undoOfVersionAction()', () => {
  it('restores what was yanked', () => {
    assert.deepEqual(undo('yank', historyOf([null]))?.action, { method: 'POST', path: '/p/versions/1/restore' });
  });

  it('yanks what was restored, with the reason, only in the role that had yanked it', () => {
    const expected = { method: 'POST', path: '/p/versions/1/yank', json: { reason: 'Wrong.' } };
    assert.deepEqual(undo('restore', historyOf([null]), team)?.action, expected);
    assert.equal(undo('restore', historyOf([null]), publisher), undefined);
    assert.equal(undo('restore', historyOf([null]), both), undefined);
  });

  it('rolls back to what all guests followed, and ends the rollback if that was the newest', () => {
    const to = (version: number) => ({ method: 'POST', path: '/p/rollback', json: { version } });
    assert.deepEqual(undo('rollBack', historyOf([null, null])), { action: to(2), done: 'Rollback undone.' });
    assert.deepEqual(undo('rollBack', historyOf([1, 1]))?.action, to(1));
    assert.equal(undo('rollBack', historyOf([1, null])), undefined);
    assert.equal(undo('rollBack', historyOf([null], true)), undefined);
  });

  it('is not possible for decisions', () => {
    for (const action of ['approve', 'reject'] as const) assert.equal(undo(action, historyOf([null])), undefined);
  });
});

describe('undoOfBlocking() and undoOfPinning()', () => {
  it('return to the earlier state', () => {
    const status = (state: string, reason: string | null) => ({ status: { state, reason } }) as never;
    assert.deepEqual(undoOfBlocking(status('published', null), '/p')?.action, { method: 'DELETE', path: '/p/block' });
    const block = { method: 'PUT', path: '/p/block', json: { reason: 'Spies.' } };
    assert.deepEqual(undoOfBlocking(status('blocked', 'Spies.'), '/p')?.action, block);
    assert.equal(undoOfBlocking(status('blocked', null), '/p'), undefined);
    assert.deepEqual(undoOfPinning({ pinnedTo: null }, '/pin').action, { method: 'DELETE', path: '/pin' });
    assert.deepEqual(undoOfPinning({ pinnedTo: 3 }, '/pin').action, {
      method: 'PUT',
      path: '/pin',
      json: { version: 3 },
    });
  });
});
