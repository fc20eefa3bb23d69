import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AttestedBinding,
  type AttestedExtensionPoint,
  bindingLine,
  compareAttestedBindings,
  extensionPointLine,
} from './extension-point-attestation.ts';

const binding: AttestedBinding = {
  guestKey: 'käse/1',
  plugin: 'ext_1/plugin/usr_1/greet',
  name: 'greet',
  userName: 'Ada',
  version: 3,
  semver: null,
  note: 'First',
  contentAddress: 'a'.repeat(43),
  size: 8,
  documents: ['b', 'a', 'b'],
};

describe('extensionPointLine() and bindingLine()', () => {
  it('have the same text for ever, whatever the order of keys, without other fields', () => {
    const limits = { maxModuleBytes: null, maxInitialMemoryPages: 1, proposals: null, allowWasi: true };
    const point = { name: 'Formulas', id: 'ext_1', schema: { x: [1], exports: { b: 1, a: {} } }, limits };
    const more = { requiresApproval: false, minVersionAgeSeconds: 0, updatedAt: 'later' };
    assert.equal(
      extensionPointLine({ ...more, ...point } as AttestedExtensionPoint),
      '{"id":"ext_1","limits":{"allowWasi":true,"maxInitialMemoryPages":1,"maxModuleBytes":null,"proposals":null},' +
        '"minVersionAgeSeconds":0,"name":"Formulas","requiresApproval":false,"schema":{"exports":{"a":{},"b":1},"x":[1]}}\n',
    );
    assert.equal(
      bindingLine(binding),
      `{"contentAddress":"${'a'.repeat(43)}","documents":["a","b"],"guestKey":"k\\u00e4se/1","note":"First","plugin":"ext_1/plugin/usr_1/greet",` +
        '"semver":null,"size":8,"userName":"Ada","version":3}\n',
    );
  });
});

describe('compareAttestedBindings()', () => {
  it('compares guest keys and names by their bytes', () => {
    const texts = [
      '',
      'A',
      'Z',
      'a',
      'aa',
      'a/',
      'ä',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{1f600}',
      '\u{10ffff}',
    ];
    for (const one of texts) {
      for (const other of texts) {
        const expected = Buffer.compare(Buffer.from(one), Buffer.from(other));
        const byKey = compareAttestedBindings({ guestKey: one, name: 'b' }, { guestKey: other, name: 'b' });
        const byName = compareAttestedBindings({ guestKey: 'k', name: one }, { guestKey: 'k', name: other });
        assert.deepEqual([Math.sign(byKey), Math.sign(byName)], [expected, expected], `${one} ${other}`);
      }
    }
  });
});
