import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AppAuditEntry } from '@tenon/protocol';
import { type AuditAction, auditActions, auditActionsOf } from '@tenon/protocol/audit-actions';
import { type AuditEntry, describeEntry, detailName, detailText, isChange } from './audit-text.ts';

function entry(action: string, rest: Partial<AppAuditEntry> & { kind?: string } = {}): AuditEntry {
  const { kind = auditActions[action as AuditAction]?.target ?? 'app', ...fields } = rest;
  return {
    id: 'evt_1',
    at: '2026-03-01T12:00:00.000Z',
    action,
    by: 'user',
    user: { id: 'usr_1', name: 'Ada' },
    via: null,
    target: { kind, id: 'x_1', name: 'median' },
    details: {},
    guestKeys: {},
    ...fields,
  } as AuditEntry;
}

function text(of: AuditEntry, appId: string | undefined = 'app_1'): string {
  const { verb, thing, rest } = describeEntry(of, appId);
  return [verb, thing?.text, rest]
    .filter((part) => part !== undefined)
    .join(' ')
    .replace(/ ([,:])/, '$1');
}

const plugin = { kind: 'plugin', id: 'ext_1/plugin/usr_1/median', name: 'median' };

describe('describeEntry()', () => {
  it('says which version of which plugin, and links to it', () => {
    const yank = entry('version.yank', { target: plugin, details: { version: 3 } });
    assert.equal(text(yank), 'yanked version 3 of median');
    assert.equal(describeEntry(yank, 'app_1').thing?.to, '/apps/app_1/extension-points/ext_1/plugins/usr_1/median');
    assert.equal(describeEntry(yank).thing?.to, undefined);
    assert.equal(
      text(entry('plugin.publish', { target: plugin, details: { version: 1, state: 'awaiting_approval' } })),
      'published version 1 of median, which awaits approval',
    );
    assert.equal(
      text(entry('plugin.roll_back', { target: plugin, details: { version: 2 } })),
      'rolled median back to version 2',
    );
  });

  it('names simulations and verdicts', () => {
    const point = { kind: 'extension_point', id: 'ext_1', name: 'Greetings' };
    const simulation = { simulation: 'basics' };
    assert.equal(
      text(entry('simulation.put', { target: point, details: simulation })),
      'set the simulation basics of Greetings',
    );
    assert.equal(
      text(entry('simulation.delete', { target: point, details: simulation })),
      'deleted the simulation basics of Greetings',
    );
    const test = (verdict: string) => text(entry('version.test', { target: plugin, details: { version: 3, verdict } }));
    assert.equal(test('timed_out'), 'tested version 3 of median: simulations timed out');
    assert.equal(test('constructor'), 'tested version 3 of median: constructor');
    assert.equal(
      text(entry('version.retest', { target: plugin, details: { version: 3 } })),
      'started the simulations of version 3 of median again',
    );
  });

  it('names guests by their keys where they are known', () => {
    const guestKeys = { gst_1: 'customers/globex' };
    const details = { guestIds: ['gst_1'], version: 2 };
    assert.equal(
      text(entry('binding.pin', { target: plugin, details, guestKeys } as never)),
      'pinned version 2 of median for customers/globex',
    );
    const guest = { kind: 'guest', id: 'gst_1', name: null };
    assert.equal(
      text(entry('guest.remove', { target: guest, guestKeys } as never)),
      'removed the guest customers/globex',
    );
    assert.equal(
      text(entry('binding.unpin', { target: plugin, details: { guestIds: ['a', 'b'] } })),
      'unpinned median for 2 guests',
    );
    const invitation = entry('invitation.accept', {
      target: { kind: 'invitation', id: 'inv_1', name: null },
      details,
      guestKeys,
    } as never);
    assert.equal(text(invitation), 'accepted the invitation for customers/globex');
    assert.equal(describeEntry(invitation, 'app_1').thing?.to, '/apps/app_1/guests/gst_1');
  });

  it('names no key of a guest where the event has none, as in one’s own trail', () => {
    const own = entry('guest.invite', { target: { kind: 'guest', id: 'gst_1', name: null } });
    const { guestKeys: _, ...withoutKeys } = own as AppAuditEntry;
    assert.equal(text({ ...withoutKeys, appId: 'app_1', address: null } as AuditEntry, undefined), 'invited a guest');
  });

  it('says what became of a role', () => {
    const user = { kind: 'user', id: 'usr_2', name: 'Grace' };
    const put = (before: unknown, after: string) =>
      text(entry('member.put', { target: user, details: { role: { before, after } } }));
    assert.equal(put(null, 'viewer'), 'took Grace into the team as a viewer');
    assert.equal(put('viewer', 'owner'), 'made Grace an owner, who was a viewer');
  });

  it('has words for every action, and for those that it does not know', () => {
    for (const action of [...auditActionsOf('app'), ...auditActionsOf('account')]) {
      assert.match(text(entry(action)), /^\p{L}/u, action);
      assert.doesNotMatch(text(entry(action)), /undefined|null/, action);
    }
    assert.equal(text(entry('plugin.juggle', { target: plugin })), 'did “plugin.juggle” to median');
  });

  it('does not lead to what was deleted', () => {
    assert.equal(describeEntry(entry('plugin.delete', { target: plugin }), 'app_1').thing?.to, undefined);
  });
});

describe('detailText()', () => {
  it('is plain where the value is', () => {
    assert.equal(detailText(true), 'yes');
    assert.equal(detailText(null), '–');
    assert.equal(detailText(['read', 'publish']), 'read, publish');
    assert.equal(detailText([]), 'none');
    assert.equal(detailText({ a: 1 }), '{\n  "a": 1\n}');
  });
});

describe('detailName()', () => {
  it('is words', () => {
    assert.equal(detailName('requiresApproval'), 'requires approval');
    assert.equal(detailName('versionId'), 'version id');
  });
});

describe('isChange()', () => {
  it('knows what has a before and an after', () => {
    assert.ok(isChange({ before: 1, after: null }));
    for (const value of [null, 1, { before: 1 }, { before: 1, after: 2, more: 3 }]) assert.ok(!isChange(value));
  });
});
