import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import type { BoundRecord } from '../db/records.ts';
import { bindingListJson } from './bindings.ts';

function bindingNamed(name: string): BoundRecord {
  return {
    extensionPointId: 'ext_01j29hxk3mfpq8ad68ha6hbsex',
    userId: 'usr_01j29hxk3mfpq8ad68ha6hbsex',
    guestId: 'gst_01j29hxk3mfpq8ad68ha6hbsex',
    name,
    versionId: 'ver_01j29hxk3mfpq8ad68ha6hbsex',
    versionNumber: 1,
    contentAddress: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' as ContentAddress,
    pinnedVersionId: null,
    pinnedNumber: null,
    selectedVersionId: null,
    selectedNumber: null,
    updatedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  };
}

describe('bindingListJson()', () => {
  it('writes exactly the format of the interface document', () => {
    assert.equal(
      bindingListJson([bindingNamed('greet')]),
      '{"greet":{"id":"ext_01j29hxk3mfpq8ad68ha6hbsex/plugin/usr_01j29hxk3mfpq8ad68ha6hbsex/greet",' +
        '"contentAddress":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU","updatedAt":"2026-01-02T03:04:05.006Z"}}',
    );
  });

  it('puts names in code-unit order, integer-like ones and those of Object.prototype too', () => {
    const names = ['b', 'constructor', '10', 'B', 'a', '9', 'a.b', 'a-b', 'toString'];
    const written = [...bindingListJson(names.map(bindingNamed)).matchAll(/"([^"]+)":\{"id"/g)].map(
      (match) => match[1],
    );
    assert.deepEqual(written, ['10', '9', 'B', 'a', 'a-b', 'a.b', 'b', 'constructor', 'toString']);
  });

  it('is an empty object without bindings', () => {
    assert.equal(bindingListJson([]), '{}');
  });
});
