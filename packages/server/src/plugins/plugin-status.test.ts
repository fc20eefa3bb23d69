import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GuestId } from '@tenon/protocol';
import { someTimeMs, unheld, versionRecord } from '../../test/helpers/records.ts';
import type { AppAccess } from '../auth/access.ts';
import type { BindingRecord, BlockRecord, VersionRecord } from '../db/records.ts';
import { describePluginStatus } from './plugin-status.ts';
import { toPlugin } from './plugin-wire.ts';

const silent = { publisherBlock: null, description: null, homepage: null };
const key = { extensionPointId: 'ext_1', userId: 'usr_1', name: 'median' } as const;

const unbound = { ...key, versionId: null, versionNumber: null, contentAddress: null, ...unheld, updatedAtMs: 0 };

function standing(
  newest: Partial<VersionRecord>,
  claims: readonly (Partial<BindingRecord> & { readonly guestId: GuestId })[],
  block: BlockRecord | null = null,
  hasMoreBindings = false,
) {
  return describePluginStatus({
    plugin: { ...key, createdAtMs: someTimeMs, newest: versionRecord(key, { number: 3, ...newest }), block, ...silent },
    bindings: claims.map((claim) => ({ ...unbound, ...claim })),
    hasMoreBindings,
  });
}

describe('describePluginStatus()', () => {
  it('describes the status in sentences', () => {
    const both = [
      { guestId: 'gst_b', versionNumber: 3 },
      { guestId: 'gst_a', versionNumber: 3 },
    ] as const;
    const words = (...args: Parameters<typeof standing>) => standing(...args).detail;
    assert.equal(words({}, both), 'Version 3 is published. Version 3 is active for all 2 guests.');
    assert.equal(
      words({}, both, null, true),
      'Version 3 is published. Of its first 2 guests: Version 3 is active for all 2 guests.',
    );
    assert.equal(
      words({ state: 'awaiting_approval' }, [{ guestId: 'gst_a', versionNumber: 2 }]),
      "Version 3 awaits approval by the application's team. Version 2 is active for 1 guest.",
    );
    assert.equal(
      words({ state: 'cooling_down', releaseAtMs: Date.UTC(2026, 2, 1) }, [{ guestId: 'gst_a', versionNumber: 2 }]),
      'Version 3 is published automatically at 2026-03-01T00:00:00.000Z. Version 2 is active for 1 guest.',
    );
    assert.equal(
      words({ state: 'rejected', stateReason: 'It leaks', stateRole: 'host' }, [{ guestId: 'gst_a' }]),
      "Version 3 was rejected by the application's team: “It leaks”. Active for no guest.",
    );
    assert.equal(
      words({ state: 'yanked', stateReason: 'Oops', stateRole: 'publisher' }, [
        { guestId: 'gst_a', versionNumber: 1 },
        { guestId: 'gst_b', versionNumber: 2, pinnedNumber: 2 },
        { guestId: 'gst_c' },
      ]),
      'Version 3 was yanked: “Oops”. Version 2 is active for 1 of 3 guests. Version 1 is active for 1 of 3 guests. ' +
        "The application's team holds it at version 2 for 1 of 3 guests.",
    );
    assert.equal(
      words({ state: 'rejected', stateReason: 'Wrong name.', stateRole: 'host' }, [{ guestId: 'gst_a' }]),
      "Version 3 was rejected by the application's team: “Wrong name.” Active for no guest.",
    );
    assert.equal(
      words({}, [{ guestId: 'gst_a' }], { atMs: 1, reason: 'Sends data home' }),
      "The application's team has blocked the plugin: “Sends data home”. Active for no guest.",
    );
  });

  it('has a state for programs: the newest version’s, or that the plugin is blocked, with its reason', () => {
    const state = (...args: Parameters<typeof standing>) => {
      const { state, reason } = standing(...args);
      return [state, reason];
    };
    assert.deepEqual(state({}, []), ['published', null]);
    assert.deepEqual(state({ state: 'yanked', stateReason: 'why' }, []), ['yanked', 'why']);
    assert.deepEqual(state({ state: 'yanked', stateReason: 'why' }, [], { atMs: 1, reason: 'no' }), ['blocked', 'no']);
  });
});

describe('toPlugin()', () => {
  it('lists the bound version of each guest, by id, with the guest keys for members only', () => {
    const found = {
      plugin: { ...key, createdAtMs: someTimeMs, newest: versionRecord(key, { number: 3 }), block: null, ...silent },
      publisherName: 'Grace',
      bindings: [
        { ...unbound, guestId: 'gst_b', guestKey: 'b', versionNumber: 1, pinnedNumber: 1, selectedNumber: 2 },
        { ...unbound, guestId: 'gst_a', guestKey: 'a' },
      ],
      hasMoreBindings: false,
    } as const;
    for (const role of ['viewer', 'guest'] as const) {
      const { userName, status, guestIds } = toPlugin(found, { role } as AppAccess);
      const keyOf = (guestKey: string) => (role === 'guest' ? {} : { guestKey });
      assert.deepEqual([userName, guestIds], ['Grace', ['gst_b']]);
      assert.deepEqual(status.bindings, [
        { guestId: 'gst_a', ...keyOf('a'), version: null, isPinned: false, pinnedTo: null, rolledBackTo: null },
        { guestId: 'gst_b', ...keyOf('b'), version: 1, isPinned: true, pinnedTo: 1, rolledBackTo: 2 },
      ]);
    }
  });
});
